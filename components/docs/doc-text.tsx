import { type MarkdownParts, TrustedMarkdown } from '../ui/markdown.tsx'
import { Picture } from '../ui/picture.tsx'
import { anchorOf, docHref, pictureHref } from './doc-pages.ts'
import { WideTable } from './wide-table.tsx'

/** Widths and heights of pictures in pixels, by their links. */
export type PictureSizes = Readonly<Record<string, { readonly width: number; readonly height: number }>>

interface DocTextProps {
  /** File name in docs/, without `.md`. */
  readonly name: string
  readonly text: string
  /** Sizes of the pictures, for which the page reserves the space until they are loaded. */
  readonly sizes?: PictureSizes
}

/** A page of the documentation, rendered from Markdown, with an anchor per heading and pictures from docs/pictures. */
export const DocText = ({ name, text, sizes = {} }: DocTextProps) => (
  <article className="grid max-w-[80ch] gap-3 text-sm leading-relaxed [&_p]:whitespace-normal [overflow-wrap:anywhere]">
    <TrustedMarkdown text={text.replace(/<!--[\s\S]*?-->/g, '')} parts={partsOf(name, sizes)} />
  </article>
)

const partsOf = (name: string, sizes: PictureSizes): MarkdownParts => ({
  heading: ({ depth, text }, content) => {
    const id = anchorOf(text)
    if (depth === 1)
      return (
        <h2 id={id} className="font-semibold text-xl">
          {content}
        </h2>
      )
    if (depth === 2)
      return (
        <h3 id={id} className="mt-4 scroll-mt-4 font-semibold text-base">
          {content}
        </h3>
      )
    return (
      <h4 id={id} className="mt-2 scroll-mt-4 font-semibold">
        {content}
      </h4>
    )
  },
  link: ({ href }, content) => {
    const to = docHref(href, name)
    if (to === undefined) return <code className="rounded bg-panel px-1 font-mono text-xs">{content}</code>
    const isOutside = to.startsWith('http')
    return (
      <a
        href={to}
        className="text-accent underline"
        {...(isOutside && { target: '_blank', rel: 'noopener noreferrer', title: href })}
      >
        {content}
      </a>
    )
  },
  table: (table) => <WideTable>{table}</WideTable>,
  image: ({ text, href }) => {
    const source = pictureHref(href)
    return source === undefined ? (
      text
    ) : (
      <a href={source} target="_blank" rel="noopener noreferrer" title="Show in full size">
        <Picture src={source} alt={text} {...sizes[href]} className="h-auto max-w-full" />
      </a>
    )
  },
})
