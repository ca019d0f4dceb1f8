/** Why a tab of the template lab has nothing to show: the lab's own texts, or the machinery. */

import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { InputError } from '#lib/templates/document/input.ts'

interface InputBannerProps {
  readonly error: InputError
  readonly onLine: (line: number) => void
}

/** What is wrong with the document, in Python's words. */
export function InputBanner({ error, onLine }: InputBannerProps) {
  const { where, className, message, line, column } = error
  const place = [where, line !== undefined && `line ${line}`, column !== undefined && `column ${column}`]
  return (
    <Banner tone="bad" title={`${className}: ${message}`} hint={`In the ${place.filter(Boolean).join(', ')}.`}>
      {where === 'template' && line !== undefined && <Button onClick={() => onLine(line)}>Show line {line}</Button>}
    </Banner>
  )
}

/** The same in one row, above something that is still worth looking at. */
export function InputLine({ error, onLine }: InputBannerProps) {
  const { where, className, message, line } = error
  return (
    <p role="status" className="flex items-baseline gap-3 bg-bad-soft px-3.5 py-1.5 text-xs" data-refused={className}>
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="font-medium text-bad">
          {className}: {message}
        </span>{' '}
        <span className="text-dim">The last successful render is shown.</span>
      </span>
      {where === 'template' && line !== undefined && (
        <button type="button" className="shrink-0 font-medium text-accent hover:underline" onClick={() => onLine(line)}>
          Show line {line}
        </button>
      )}
    </p>
  )
}

/** Why a task could not be done at all. */
export function TaskBanner({ error }: { readonly error: Error & { readonly hint?: string | undefined } }) {
  return <Banner tone="bad" title={error.message} hint={error.hint} />
}
