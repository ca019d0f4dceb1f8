'use client'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

interface CopyButtonProps {
  readonly text: string
  readonly children: ReactNode
}

/** Shows a button that copies a text and reports the result. */
export function CopyButton({ text, children }: CopyButtonProps) {
  const [copied, setCopied] = useState<{ readonly text: string; readonly ok: boolean }>()
  const copy = async () => {
    const ok = await copyText(text)
    setCopied({ text, ok })
  }
  return (
    <>
      <span role="status" className="text-dim text-xs">
        {copied?.text === text && (copied.ok ? 'Copied.' : 'The browser refused to copy.')}
      </span>
      <Button className="text-xs" onClick={copy}>
        {children}
      </Button>
    </>
  )
}
