'use client'
import { Copy } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '#components/ui/copy-text.ts'
import { IconButton } from '#components/ui/icon-button.tsx'

/** Copies what a comparison found as one sentence, for a trainer's issue tracker, and says whether it could. */
export function CopySentence({ sentence }: { readonly sentence: string }) {
  const [copied, setCopied] = useState<{ readonly sentence: string; readonly ok: boolean }>()
  const copy = async () => setCopied({ sentence, ok: await copyText(sentence) })
  return (
    <span className="-my-1 flex shrink-0 items-center gap-1">
      <IconButton label="Copy a sentence for an issue" onClick={copy}>
        <Copy size={14} aria-hidden />
      </IconButton>
      <span role="status" className="whitespace-nowrap font-normal text-dim text-xs">
        {copied?.sentence === sentence && (copied.ok ? 'Copied.' : 'The browser refused to copy.')}
      </span>
    </span>
  )
}
