import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import type { RerenderCause } from '#lib/templates/tool-parsing/difference.ts'
import type { CallSide, ReRenderedCall } from '#lib/templates/tool-parsing/rerender.ts'

const CAUSES: Readonly<Record<RerenderCause, string>> = {
  tokens: 'the same text in different tokens',
  spacing: 'white space',
  'key-order': 'the order of keys',
  escapes: 'escapes in strings',
  numbers: 'the spelling of numbers',
  words: 'True, False, None instead of true, false, null',
  quotes: 'single instead of double quotes',
  ignored: 'members that the parser ignores',
  content: 'the content',
}

interface ReRenderedRowProps {
  readonly reRendered: ReRenderedCall
  readonly onLine: (line: number) => void
}

/** Whether the template renders the call with the ids that the model sampled. */
export function ReRenderedRow({ reRendered, onLine }: ReRenderedRowProps) {
  if (reRendered.kind === 'same')
    return (
      <p className="mt-1.5 text-dim" data-rerendered="same">
        <span className="text-good">✓</span> The template writes the same {countText(reRendered.tokens)} tokens.
      </p>
    )
  if (reRendered.kind === 'absent')
    return (
      <div className="mt-1.5" data-rerendered="absent">
        <p className="text-warn">✗ Through the template: {reRendered.why}.</p>
        {reRendered.text.trim() !== '' && (
          <details className="mt-1">
            <summary className="text-faint hover:text-ink">Text of the template</summary>
            <pre className="mt-1 max-h-40 overflow-auto whitespace-pre-wrap rounded-sm bg-panel p-1.5 font-mono [overflow-wrap:anywhere]">
              {reRendered.text}
            </pre>
          </details>
        )}
      </div>
    )
  const { at, completion, template, causes, line } = reRendered
  return (
    <div className="mt-1.5" data-rerendered="differs">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-warn">
        <span>
          ✗ The template writes other tokens from the {ordinal(at + 1)} on:{' '}
          {causes.map((cause) => CAUSES[cause]).join(', ')}.
        </span>
        {line !== undefined && (
          <Button className="min-h-6 px-2 text-ink" onClick={() => onLine(line)}>
            Line {line}
          </Button>
        )}
      </p>
      <div className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5 gap-y-1">
        <span className="text-dim">model</span>
        <Tokens side={completion} at={at} />
        <span className="text-dim">template</span>
        <Tokens side={template} at={at} />
      </div>
    </div>
  )
}

/** Tokens shown before and after the first difference. */
const BEFORE = 4
const BEHIND = 8

function Tokens({ side: { tokens }, at }: { readonly side: CallSide; readonly at: number }) {
  const first = Math.max(0, at - BEFORE)
  return (
    <span className="whitespace-pre-wrap font-mono">
      {first > 0 && <span className="text-faint">… </span>}
      {tokens.slice(first, at + BEHIND).map(({ id, text }, index) => {
        const place = first + index
        return (
          <span
            key={place}
            title={`token ${place + 1}, id ${id}`}
            data-id={id}
            className={`mr-px inline-block rounded-xs border px-0.5 ${place < at ? 'border-line text-dim' : place === at ? 'border-bad bg-bad-soft text-bad' : 'border-line'}`}
          >
            {visible(text)}
          </span>
        )
      })}
      {tokens.length > at + BEHIND && <span className="text-faint"> …</span>}
      {tokens.length <= at && <span className="text-bad">ends here</span>}
    </span>
  )
}

const visible = (text: string): string =>
  text === '' ? '∅' : text.replaceAll(' ', '·').replaceAll('\n', '↵').replaceAll('\t', '⇥')

function ordinal(number: number): string {
  const last = number % 100 > 10 && number % 100 < 14 ? 0 : number % 10
  return `${countText(number)}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`
}
