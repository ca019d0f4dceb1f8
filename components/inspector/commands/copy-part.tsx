'use client'
import { useState } from 'react'
import { copyText } from '#components/ui/copy-text.ts'

/** Copies the text of a part, and says so. */
export function CopyPart({ text }: { readonly text: string }) {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    const ok = await copyText(text)
    setSaid(ok ? 'copied' : 'the browser refused')
  }
  return (
    <>
      <button type="button" className="hover:text-accent hover:underline" onClick={copy}>
        copy
      </button>
      <span role="status">{said}</span>
    </>
  )
}
