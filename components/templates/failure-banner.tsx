/** Why a tab of the template lab has nothing to show: the lab's own texts, or the machinery. */
import type { InputError } from '#lib/lab/input.ts'
import { Banner } from '../ui/banner.tsx'
import { Button } from '../ui/button.tsx'

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

/** Why a task could not be done at all. */
export function TaskBanner({ error }: { readonly error: Error & { readonly hint?: string | undefined } }) {
  return <Banner tone="bad" title={error.message} hint={error.hint} />
}
