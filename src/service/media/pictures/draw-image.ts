import type { Sharp } from 'sharp';
import type { PictureFormat } from '../../../contract/media.ts';
import { composeScene } from './compose-scene.ts';
import { composeLettering } from './lettering/compose-lettering.ts';
import { openSharp } from './open-sharp.ts';
import type { ImageOrder } from './picture-orders.ts';
import { SANDBOX_DESCRIPTION, SANDBOX_SOFTWARE } from './sandbox-tag.ts';

/**
 * Draws an image into its file: a scene of the words of the prompt, its references, its title (docs/api/media.md).
 * The same order gives the same bytes.
 * @throws the system's error when the file cannot be written
 */
export async function drawImage(order: ImageOrder): Promise<void> {
  const sharp = await openSharp();
  const scene = await composeScene(sharp, order);
  // A pipeline composites once: letters go over what is drawn already.
  const { data, info } = await scene.raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const image = sharp(data, { raw })
    .composite(await composeLettering(sharp, order))
    .removeAlpha();
  await encoded(image, order.format).toFile(order.output);
}

/** With what it is in its metadata. */
function encoded(image: Sharp, format: PictureFormat): Sharp {
  switch (format) {
    case 'png':
      return image.withExif(EXIF).png({ compressionLevel: 6 });
    case 'jpeg':
      return image.withExif(EXIF).jpeg({ quality: 90, chromaSubsampling: '4:4:4' });
    case 'webp':
      // The head that it would put before Exif is more than some readers expect.
      return image.withXmp(XMP).webp({ quality: 90 });
  }
}

const EXIF = { IFD0: { ImageDescription: SANDBOX_DESCRIPTION, Software: SANDBOX_SOFTWARE } };

const XMP = `<?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
xmp:CreatorTool="${SANDBOX_SOFTWARE}"><dc:description><rdf:Alt><rdf:li xml:lang="x-default">
${SANDBOX_DESCRIPTION}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`;
