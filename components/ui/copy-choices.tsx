'use client'
import { useState } from 'react'
import { copyText } from './copy-text.ts'

/** A text that can be copied. */
export interface CopyChoice {
  readonly name: string
  /** Called when the text is copied. */
  readonly text: () => string
}

/** Shows buttons for several texts that can be copied, and a status that names the copied one. */
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
