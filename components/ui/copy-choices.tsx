'use client'
import { useState } from 'react'
import { copyText } from './copy-text.ts'

export interface CopyChoice {
  readonly name: string
  /** Made when it is asked for. */
  readonly text: () => string
}

/** Several things that can be copied, each by its name, and one line that says what was. */
export function CopyChoices({ choices }: { readonly choices: readonly CopyChoice[] }) {
  const [said, setSaid] = useState('')
  const copy = async ({ name, text }: CopyChoice) => {
    const ok = await copyText(text())
    setSaid(ok ? `Copied ${name}.` : 'The browser refused to copy.')
  }
  return (
    <p className="flex flex-wrap items-baseline gap-1 text-xs">
      <span className="text-dim">Copy</span>
      {choices.map((choice) => (
        <button
          key={choice.name}
          type="button"
          aria-label={`Copy ${choice.name}`}
          className="rounded-md border border-line bg-raised px-1.5 py-0.5 hover:border-line-strong"
          onClick={() => copy(choice)}
        >
          {choice.name}
        </button>
      ))}
      <span role="status" className="text-dim">
        {said}
      </span>
    </p>
  )
}
