'use client'
import { ForeignText } from '#components/ui/bounded-text.tsx'
import { Picture } from '#components/ui/picture.tsx'
import type { ReadImage } from '#lib/trajectory/images/data-url.ts'
import { countText } from '../numbers.ts'

interface ImagePictureProps {
  readonly image: ReadImage
  /** What the image is, such as `Image 2`; its type and size follow. */
  readonly name: string
  readonly className?: string
}

/** Shows an image whose bytes were checked, or why it cannot be shown. No address is ever loaded. */
export const ImagePicture = ({ image, name, className = '' }: ImagePictureProps) =>
  image.ok ? (
    <Picture
      src={image.url}
      alt={`${name}, ${imageFacts(image)}`}
      width={image.header.width}
      height={image.header.height}
      className={`w-auto object-contain ${className}`}
    />
  ) : (
    <p className="text-faint text-xs">
      {name} is not shown. <ForeignText>{image.why}</ForeignText>
    </p>
  )

/** Returns the type and the size of an image, such as `PNG, 640 × 480`. */
export const imageFacts = ({ header: { type, width, height } }: Extract<ReadImage, { ok: true }>): string =>
  `${TYPE_NAMES[type]}, ${countText(width)} × ${countText(height)}`

const TYPE_NAMES = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/webp': 'WebP', 'image/gif': 'GIF' } as const
