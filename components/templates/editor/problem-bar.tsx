import { Button } from '#components/ui/button.tsx'
import type { InputError } from '#lib/templates/document/input.ts'

interface ProblemBarProps {
  readonly error: InputError
  /** Shows the position of the error in its editor. */
  readonly onShow: () => void
}

const PARTS = { template: 'Template', messages: 'Messages', tools: 'Tools', options: 'Options' } as const

/** The error that Python would report for the document. */
export function ProblemBar({ error: { where, className, message, line, column }, onShow }: ProblemBarProps) {
  return (
    <div
      role="alert"
      data-problem={className}
      data-line={line}
      className="flex max-h-40 items-center gap-3 overflow-y-auto border-line border-t bg-bad-soft px-3.5 py-2"
    >
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="font-semibold text-bad">
          {PARTS[where]}
          {line !== undefined && `, line ${line}`}
          {column !== undefined && `, column ${column}`}
        </span>{' '}
        <span className="font-mono text-[12px]">
          {className}: {message}
        </span>
      </p>
      <Button onClick={onShow}>Show</Button>
    </div>
  )
}
