'use client'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { copyAndDescribe } from './copy-text.ts'

interface CopyButtonProps {
  readonly text: string
  readonly children: ReactNode
}

/** Shows a button that copies a text and reports the result. */
export function CopyButton({ text, children }: CopyButtonProps) {
  const [copied, setCopied] = useState<{ readonly text: string; readonly message: string }>()
  const copy = async () => setCopied({ text, message: await copyAndDescribe(text, 'Copied.') })
  return (
    <>
      <span role="status" className="text-dim text-xs">
        {copied?.text === text && copied.message}
      </span>
      <Button className="text-xs" onClick={copy}>
        {children}
      </Button>
    </>
  )
}

/** A text that can be copied. */
export interface CopyChoice {
  readonly name: string
  /** Called when the text is copied. */
  readonly text: () => string
}

/** Shows buttons for several texts that can be copied, and a status that names the copied one. */
export function CopyChoices({ choices }: { readonly choices: readonly CopyChoice[] }) {
  const [message, setSaid] = useState('')
  const copy = async ({ name, text }: CopyChoice) => setSaid(await copyAndDescribe(text(), `Copied ${name}.`))
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
        {message}
      </span>
    </p>
  )
}
