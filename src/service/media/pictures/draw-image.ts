import type { Sharp } from 'sharp';
import type { PictureFormat } from '../../../contract/schemas/picture-job.ts';
import { composeLettering, composeScene } from './compose.ts';
import { openSharp } from './open-sharp.ts';
import type { ImageOrder } from './picture-orders.ts';
import { SANDBOX_DESCRIPTION, SANDBOX_SOFTWARE } from './sandbox-tag.ts';

/**
 * Draws an image into its file: a scene of the words of the prompt, its references, its title (spec section 4.8).
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
    .removeAlpha()
    .withExif({ IFD0: { ImageDescription: SANDBOX_DESCRIPTION, Software: SANDBOX_SOFTWARE } });
  await encoded(image, order.format).toFile(order.output);
}

function encoded(image: Sharp, format: PictureFormat): Sharp {
  switch (format) {
    case 'png':
      return image.png({ compressionLevel: 6 });
    case 'jpeg':
      return image.jpeg({ quality: 90, chromaSubsampling: '4:4:4' });
    case 'webp':
      return image.webp({ quality: 90 });
  }
}
