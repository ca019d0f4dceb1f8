import { countText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { TrlVerdict } from '#lib/templates/prefix-preservation/report.ts'
import { DifferenceSide } from './finding.tsx'

/** Verdict of TRL's own check, which covers fewer cases than the matrix. */
export function TrlBox({ verdict }: { readonly verdict: TrlVerdict }) {
  const { sign, look, answer } = ANSWERS[verdict.kind]
  return (
    <section aria-label="TRL’s check" data-trl={verdict.kind}>
      <Heading>TRL’s check</Heading>
      <p className="mb-2 max-w-prose">
        <span className={`font-medium ${look}`}>
          {sign} {answer}:
        </span>{' '}
        {textOf(verdict)}
      </p>
      {verdict.kind === 'rewritten' && (
        <div className="mb-2 grid border-line border-y">
          <DifferenceSide name="call" note="before its result" side={verdict.before} at={verdict.tokenIndex} />
          <DifferenceSide name="call, result" note="rendered" side={verdict.after} at={verdict.tokenIndex} />
        </div>
      )}
      <p className="max-w-prose text-dim text-xs">
        <code className="font-mono">is_chat_template_prefix_preserving</code> renders a question and a call, then the
        same with the result. It passes no tools, no options and no thinking, and renders no generation prompt before
        the call.
      </p>
    </section>
  )
}

const ANSWERS: Readonly<
  Record<TrlVerdict['kind'], { readonly sign: string; readonly look: string; readonly answer: string }>
> = {
  preserving: { sign: '✓', look: 'text-good', answer: 'True' },
  rewritten: { sign: '✗', look: 'text-bad', answer: 'False' },
  notAsked: { sign: '–', look: 'text-dim', answer: 'Not checked' },
  failed: { sign: '!', look: 'text-warn', answer: 'Error' },
}

function textOf(verdict: TrlVerdict): string {
  switch (verdict.kind) {
    case 'preserving':
      return `the result of a call leaves all ${countText(verdict.tokens)} tokens before it unchanged.`
    case 'rewritten':
      return `the result of a call changes what precedes it from token ${countText(verdict.tokenIndex)} on.`
    case 'notAsked':
      return verdict.why
    case 'failed':
      return `${verdict.failure.className}: ${verdict.failure.message}`
  }
}
