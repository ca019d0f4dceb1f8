/** Errors that a tab of the template lab shows instead of a result: in the document, or in the task itself. */

import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { InputError } from '#lib/templates/document/input.ts'

interface InputBannerProps {
  readonly error: InputError
  readonly onLine: (line: number) => void
}

/** Shows an error of the document with Python's message. */
export function InputBanner({ error, onLine }: InputBannerProps) {
  const { where, className, message, line, column } = error
  const place = [where, line !== undefined && `line ${line}`, column !== undefined && `column ${column}`]
  return (
    <Banner
      tone="bad"
      title={`${className}: ${message}`}
      hint={[`In the ${place.filter(Boolean).join(', ')}.`, adviceOn(error)].filter(Boolean).join(' ')}
    >
      {where === 'template' && line !== undefined && <Button onClick={() => onLine(line)}>Show line {line}</Button>}
    </Banner>
  )
}

/** Shows an error of the document in one row, above an older result. */
export function InputLine({ error, onLine }: InputBannerProps) {
  const { where, className, message, line } = error
  return (
    <p role="status" className="flex items-baseline gap-3 bg-bad-soft px-3.5 py-1.5 text-xs" data-refused={className}>
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="font-medium text-bad">
          {className}: {message}
        </span>{' '}
        <span className="text-dim">
          {[adviceOn(error), 'The last successful render is shown.'].filter(Boolean).join(' ')}
        </span>
      </span>
      {where === 'template' && line !== undefined && (
        <button type="button" className="shrink-0 font-medium text-accent hover:underline" onClick={() => onLine(line)}>
          Show line {line}
        </button>
      )}
    </p>
  )
}

/** Returns what to do about a special token that the tokenizer lacks, as templates of other models often need it; undefined for other errors. */
function adviceOn({ message }: InputError): string | undefined {
  const [, name] = /^'((?:bos|eos|unk|sep|pad|cls|mask)_token)' is undefined$/.exec(message) ?? []
  return name && `The tokenizer has no ${name}. Choose the tokenizer of this template, or set ${name} under Options.`
}

/** Shows why a task failed for a reason other than the document. */
export function TaskBanner({ error }: { readonly error: Error & { readonly hint?: string | undefined } }) {
  return <Banner tone="bad" title={error.message} hint={error.hint} />
}
