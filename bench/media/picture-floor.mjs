// sharp alone: draws an SVG and writes it as a png; prints the most memory that it had, in MB.
import sharp from 'sharp';

const [svg, output] = process.argv.slice(2);
sharp.concurrency(1);
sharp.cache(false);
await sharp(svg).removeAlpha().png({ compressionLevel: 6 }).toFile(output);
console.log(Math.round(process.resourceUsage().maxRSS / 1024));
