'use client'
import { X } from 'lucide-react'
import { useRef } from 'react'
import { ImagePicture, imageFacts } from '#components/token-view/images/image-picture.tsx'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'

interface AttachedImagesProps {
  /** Data URLs. */
  readonly images: readonly string[]
  readonly onRemove: (index: number) => void
}

/** Shows the images of the question in the order in which they are sent, each with a button that removes it. */
export function AttachedImages({ images, onRemove }: AttachedImagesProps) {
  const list = useRef<HTMLUListElement>(null)
  const remove = (index: number) => {
    // The button that was pressed disappears, so the focus goes to the next one, or back to the question.
    const buttons = Array.from(list.current?.querySelectorAll('button') ?? [])
    const next = buttons[index + 1] ?? buttons[index - 1] ?? document.querySelector<HTMLElement>('[data-composer]')
    next?.focus()
    onRemove(index)
  }
  return (
    <ul ref={list} aria-label="Attached images" className="flex max-h-44 flex-wrap gap-3 overflow-y-auto px-3 pt-3">
      {images.map((url, index) => {
        const image = readDataUrl(url)
        const name = `Image ${index + 1}`
        return (
          <li key={url} className="relative">
            <ImagePicture image={image} name={name} className="h-16 max-w-40 bg-panel" />
            <button
              type="button"
              onClick={() => remove(index)}
              aria-label={`Remove image ${index + 1}${image.ok ? `, ${imageFacts(image)}` : ''}`}
              title="Remove"
              className="absolute -top-2 -right-2 grid size-6 place-items-center rounded-full border border-line bg-raised text-dim hover:border-line-strong hover:text-ink"
            >
              <X size={13} aria-hidden />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
