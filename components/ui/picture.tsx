interface PictureProps {
  readonly src: string
  /** What the picture shows, in words. */
  readonly alt: string
  readonly className?: string
  readonly width?: number
  readonly height?: number
}

/** Shows a picture as its bytes are: one of the documentation, or one of a conversation as a data URL. */
export const Picture = ({ alt, className = '', ...picture }: PictureProps) => (
  // biome-ignore lint/performance/noImgElement: the bytes are on the page or small, so no server has to resize them
  <img {...picture} alt={alt} decoding="async" className={`rounded-md border border-line ${className}`} />
)
