import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { entryText, pieceBytesText } from '#components/token-view/pieces/piece-text.ts'
import { originOf, type RenderPreview } from '#lib/templates/preview/render-preview.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import { tokenFacts } from './preview-trajectory.ts'

interface PreviewTokenProps {
  readonly token: Token
  readonly renderPreview: RenderPreview
  readonly onLine: (line: number) => void
}

/** Details of one token of the preview in two lines. */
export function PreviewToken({ token, renderPreview, onLine }: PreviewTokenProps) {
  const entry = renderPreview.vocab[token.id]
  const origin = originOf(renderPreview, token.index)
  const facts = tokenFacts(renderPreview, token).slice(origin ? 1 : 0)
  return (
    <section aria-label="Token" data-token={token.index} className="grid gap-1 tabular-nums">
      <p className="flex min-w-0 items-baseline gap-x-3 overflow-hidden">
        <span className="shrink-0 font-semibold">Token {countText(token.index)}</span>
        <span className="min-w-0 overflow-hidden rounded border border-line bg-raised px-1.5 font-mono text-sm">
          <MarkedPiece id={token.id} vocab={renderPreview.vocab} className="inline-block" />
        </span>
        <span className="shrink-0 text-dim">id {token.id}</span>
        <span className="truncate font-mono text-dim" title={`text ${entryText(entry)}`}>
          {entryText(entry)}
        </span>
        <span className="truncate font-mono text-faint" title="Its bytes">
          {pieceBytesText(entry)}
        </span>
      </p>
      <p className="flex flex-wrap items-baseline gap-x-3 text-dim">
        {origin && (
          <button type="button" className="font-medium text-accent hover:underline" onClick={() => onLine(origin.line)}>
            template line {origin.line}
          </button>
        )}
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
    </section>
  )
}
