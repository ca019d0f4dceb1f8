'use client'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import type { Inspection } from '../inspection.ts'

interface CopyArrayProps {
  readonly inspection: Pick<Inspection, 'run' | 'say'>
  readonly format: string
  readonly row: number
  readonly field: string
}

/** Shows buttons that copy an array unchanged. The text is created on request, since it may have megabytes. */
export function CopyArray({ inspection: { run, say }, format, row, field }: CopyArrayProps) {
  const copy = async (language: 'json' | 'python') => {
    const text = await run('trainerArray', { format, row, field, language }, { signal: new AbortController().signal })
    say(await copyAndDescribe(text, `${field} copied`))
  }
  return (
    <span className="inline-flex gap-2">
      {LANGUAGES.map(([language, label]) => (
        <button
          key={language}
          type="button"
          className="text-accent hover:underline"
          aria-label={`Copy ${field} as ${label}`}
          onClick={() => copy(language)}
        >
          {label}
        </button>
      ))}
    </span>
  )
}

const LANGUAGES = [
  ['json', 'JSON'],
  ['python', 'Python'],
] as const
