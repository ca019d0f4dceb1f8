/**
 * Two simple token views to compare the inspector with: `#spans` has one React span for each token in the page, `#rows` has
 * lines of such spans in react-window. The page itself parses and checks the file, which the inspector does in a worker.
 */
import { type ComponentType, memo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { List, type RowComponentProps } from 'react-window'
import { openText } from '#lib/formats/reading/open.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'

interface BaselineToken {
  readonly index: number
  readonly text: string
  readonly isTrained: boolean
  readonly logprob: number | null
}

interface ViewProps {
  readonly tokens: readonly BaselineToken[]
}

const input = document.querySelector('input') as HTMLInputElement
const root = createRoot(document.getElementById('root') as HTMLElement)
input.addEventListener('change', async () => {
  const file = input.files?.[0]
  if (!file) return
  const opened = openText(await file.text(), { file: file.name, now: '', newId: () => '' })
  if (!opened.ok) throw new Error(opened.error.message)
  const View: ComponentType<ViewProps> = window.location.hash === '#rows' ? Rows : Spans
  root.render(<View tokens={tokensOf(opened.trajectories[0] as Trajectory)} />)
})

function tokensOf({ segments, vocab }: Trajectory): readonly BaselineToken[] {
  const tokens: BaselineToken[] = []
  for (const { kind, ids, logprobs, mask } of segments)
    for (const [offset, id] of ids.entries())
      tokens.push({
        index: tokens.length,
        text: textOf([id], vocab),
        isTrained: mask ? mask[offset] === 1 : kind === 'response',
        logprob: logprobs?.[offset] ?? null,
      })
  return tokens
}

function Spans({ tokens }: ViewProps) {
  const [pointed, setPointed] = useState<number>()
  return tokens.map((token) => (
    <TokenSpan key={token.index} token={token} isPointed={token.index === pointed} onPoint={setPointed} />
  ))
}

interface TokenSpanProps {
  readonly token: BaselineToken
  readonly isPointed: boolean
  readonly onPoint: (index: number) => void
}

const TokenSpan = memo(function TokenSpan({ token, isPointed, onPoint }: TokenSpanProps) {
  const { index, text, isTrained, logprob } = token
  return (
    <span
      className={`token${isTrained ? ' trained' : ''}${isPointed ? ' pointed' : ''}`}
      data-index={index}
      style={{ background: logprob === null ? undefined : `rgb(255 0 0 / ${Math.min(1, -logprob / 8)})` }}
      onPointerEnter={() => onPoint(index)}
    >
      {text}
    </span>
  )
})

const COLUMNS = 120

function Rows({ tokens }: ViewProps) {
  const [pointed, setPointed] = useState<number>()
  const [lines] = useState(() => linesOf(tokens))
  return (
    <List
      rowComponent={Row}
      rowCount={lines.length}
      rowHeight={20}
      rowProps={{ lines, pointed, onPoint: setPointed }}
      style={{ height: 900 }}
    />
  )
}

interface RowProps {
  readonly lines: readonly (readonly BaselineToken[])[]
  readonly pointed: number | undefined
  readonly onPoint: (index: number) => void
}

const Row = ({ index, style, lines, pointed, onPoint }: RowComponentProps<RowProps>) => (
  <div className="row" style={style}>
    {lines[index]?.map((token) => (
      <TokenSpan key={token.index} token={token} isPointed={token.index === pointed} onPoint={onPoint} />
    ))}
  </div>
)

/** A line ends after a token with a line break, and before one that goes beyond its width. */
function linesOf(tokens: readonly BaselineToken[]): readonly (readonly BaselineToken[])[] {
  const lines: BaselineToken[][] = [[]]
  let width = 0
  for (const token of tokens) {
    if (width + token.text.length > COLUMNS) {
      lines.push([])
      width = 0
    }
    lines.at(-1)?.push(token)
    width += token.text.length
    if (!token.text.includes('\n')) continue
    lines.push([])
    width = 0
  }
  return lines
}
