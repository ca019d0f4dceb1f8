'use client'
import { type ComponentProps, Suspense, useState } from 'react'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { ImagePicture, imageFacts } from '#components/token-view/images/image-picture.tsx'
import { BoundedText } from '#components/ui/bounded-text.tsx'
import { copyText } from '#components/ui/copy-text.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { readImagePart } from '#lib/trajectory/images/image-boxes.ts'
import type { MessagePart } from '#lib/trajectory/messages/message-parts.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { CallView } from './call-view.tsx'

const Markdown = lazyCode(async () => (await import('#components/ui/markdown.tsx')).Markdown)

interface MessagePartProps {
  readonly part: MessagePart
  readonly text: string
  /** Tokens as indices in the trajectory; undefined if unknown. */
  readonly tokens: Span | undefined
  /** Whether it contains the selected token or the one under the pointer. */
  readonly isLinked: boolean
  readonly isMarkdown: boolean
  readonly isResult: boolean
  /** False if its segment has no tokens at all. */
  readonly hasTokens: boolean
  readonly onPointAt: (tokens: Span | undefined) => void
  readonly onChoose: (tokens: Span, tab?: 'tokens') => void
}

/** Shows a part of a message; pointing at it marks its tokens. */
export function MessagePartView(props: MessagePartProps) {
  const { part, text, tokens, isLinked, isMarkdown, isResult, hasTokens, onPointAt, onChoose } = props
  const name = nameOf(part, isResult)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has another meaning, and each part would be a landmark
    <div
      role="group"
      aria-label={name}
      data-part={part.kind}
      data-tokens={tokens && `${tokens.start}-${tokens.end}`}
      data-linked={isLinked || undefined}
      className="group rounded-md border border-transparent px-1.5 py-1 hover:border-line data-linked:border-accent data-linked:bg-accent-soft"
      onPointerEnter={() => onPointAt(tokens)}
      onPointerLeave={() => onPointAt(undefined)}
    >
      <div className="flex items-baseline gap-3 text-[11px] text-dim tabular-nums">
        <span>{name}</span>
        {tokens ? (
          <>
            <button
              type="button"
              className="hover:text-accent hover:underline"
              title="Select its tokens"
              onClick={() => onChoose(tokens)}
            >
              {countWithNoun(tokens.end - tokens.start, 'token')}
            </button>
            <button
              type="button"
              className="hover:text-accent hover:underline"
              title="Select and show its tokens"
              onClick={() => onChoose(tokens, 'tokens')}
            >
              show
            </button>
          </>
        ) : (
          hasTokens && <span>tokens unknown</span>
        )}
        {part.kind !== 'image' && <CopyPart text={text} />}
      </div>
      <Body part={part} text={text} name={name} isMarkdown={isMarkdown} isResult={isResult} />
    </div>
  )
}

interface BodyProps extends Pick<MessagePartProps, 'part' | 'text' | 'isMarkdown' | 'isResult'> {
  readonly name: string
}

function Body({ part, text, name, isMarkdown, isResult }: BodyProps) {
  switch (part.kind) {
    case 'thinking':
      return <PlainText text={text} label={name} longest={2_000} className="text-dim italic" />
    case 'call':
    case 'given-call':
      return <CallView part={part} />
    case 'image': {
      const image = readImagePart(part.content)
      return (
        <figure className="grid gap-1">
          <ImagePicture image={image} name="Image" className="h-auto max-h-72 max-w-full" />
          {image.ok && <figcaption className="text-[11px] text-faint">{imageFacts(image)}</figcaption>}
        </figure>
      )
    }
    case 'other':
      return <p className="text-faint text-xs">Content of the type {part.type}, which is not shown.</p>
    case 'text':
      break
  }
  const plain = <PlainText text={text} label={name} className={isResult ? 'font-mono text-xs' : ''} />
  return isMarkdown ? (
    <Suspense fallback={plain}>
      <Markdown text={text} fallback={plain} />
    </Suspense>
  ) : (
    plain
  )
}

/** Shows a text. Line breaks at its beginning, and a text of white space only, are marks: they would be an empty space. */
function PlainText({ text, ...rest }: ComponentProps<typeof BoundedText>) {
  const [space = ''] = /^(?:\s+$|\n+)/.exec(text) ?? []
  const visibleText = text.slice(space.length)
  return (
    <>
      {space !== '' && (
        <span className="text-faint text-xs" title="White space in the text">
          {space.slice(0, MOST_MARKS).replaceAll(/\s/g, (one) => (one === '\n' ? '↵' : '·'))}
          {space.length > MOST_MARKS && '…'}
        </span>
      )}
      {visibleText !== '' && <BoundedText text={visibleText} {...rest} />}
    </>
  )
}

const MOST_MARKS = 20

function nameOf(part: MessagePart, isResult: boolean): string {
  switch (part.kind) {
    case 'text':
      return isResult ? 'result' : 'text'
    case 'call':
      return part.call.kind === 'parsed' ? 'call' : 'malformed call'
    case 'given-call':
      return 'call'
    default:
      return part.kind
  }
}

/** Shows a button that copies the text of a part and reports the result. */
function CopyPart({ text }: { readonly text: string }) {
  const [message, setSaid] = useState<string>()
  const copy = async () => {
    const ok = await copyText(text)
    setSaid(ok ? 'copied' : 'the browser refused')
  }
  return (
    <>
      <button type="button" className="hover:text-accent hover:underline" onClick={copy}>
        copy
      </button>
      <span role="status">{message}</span>
    </>
  )
}
