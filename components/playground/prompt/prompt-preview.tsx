'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { Button } from '#components/ui/button.tsx'
import type { PreviewQuestion, PromptPreview } from '#lib/api/prompt-preview.ts'

/** Preview of a prompt, or why there is none. */
export type PreviewResult =
  | { readonly kind: 'ready'; readonly preview: PromptPreview }
  /** `field` is the path of the invalid value. */
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly hint: string | undefined
      readonly field: string | undefined
    }

/** Requests a preview from the server. The promise rejects only if the signal is aborted. */
export type AskPreview = (question: PreviewQuestion, signal: AbortSignal) => Promise<PreviewResult>

interface PromptPreviewProps {
  /** Undefined if there is nothing to preview. */
  readonly question: PreviewQuestion | undefined
  readonly onPreview: AskPreview
  /** Returns a function that shows the field in its editor; undefined if its position is unknown. */
  readonly onField?: (field: string) => (() => void) | undefined
}

/** Pause in typing before a preview is requested, in milliseconds. */
const PAUSE_MS = 300

/** The tokens that would be sent, as many as fit, with their count and warnings. */
export function PromptPreviewPanel({ question, onPreview, onField }: PromptPreviewProps) {
  const key = question ? JSON.stringify(question) : ''
  const [answer, setAnswer] = useState<{ readonly key: string; readonly previewed: PreviewResult }>()
  const ask = useEffectEvent(async (asked: string, signal: AbortSignal) => {
    if (!question) return
    try {
      const previewed = await onPreview(question, signal)
      if (!signal.aborted) setAnswer({ key: asked, previewed })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  })
  useEffect(() => {
    if (key === '') return
    const controller = new AbortController()
    const timer = setTimeout(() => ask(key, controller.signal), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  if (!question) return <p className="text-faint text-xs">No tokens yet.</p>
  const state = answer?.key === key ? 'settled' : 'asking'
  if (!answer)
    return (
      <p className="text-faint text-xs" role="status">
        Counting tokens…
      </p>
    )
  const { previewed } = answer
  if (previewed.kind === 'refused') {
    const show = previewed.field === undefined ? undefined : onField?.(previewed.field)
    return (
      <p className="flex flex-wrap items-center gap-2 text-bad text-xs" role="status" data-preview={state}>
        <span>
          {previewed.message}. {previewed.hint}
        </span>
        {show && <Button onClick={show}>Show it</Button>}
      </p>
    )
  }
  const { preview } = previewed
  return (
    <section aria-label="As tokens" data-preview={state} className="grid gap-1.5 text-xs">
      <p className="text-dim" role="status">
        <span className="font-medium text-ink tabular-nums">{countText(preview.count)}</span>{' '}
        {preview.count === 1 ? 'token' : 'tokens'} · {preview.tokenizer}
      </p>
      <p className="max-h-24 overflow-y-auto break-all rounded-md border border-line bg-panel px-2 py-1.5 font-mono leading-6">
        <Pieces ids={preview.head} preview={preview} />
        {preview.tail.length > 0 && (
          <>
            <span className="mx-1 text-faint">
              … {countText(preview.count - preview.head.length - preview.tail.length)} more…
            </span>
            <Pieces ids={preview.tail} preview={preview} />
          </>
        )}
      </p>
      {preview.notes.map((note) => (
        <p key={note} className="text-warn">
          {note}
        </p>
      ))}
    </section>
  )
}

const Pieces = ({ ids, preview }: { readonly ids: readonly number[]; readonly preview: PromptPreview }) =>
  ids.map((id, index) => (
    <span
      // biome-ignore lint/suspicious/noArrayIndexKey: the index is the identity of a token
      key={index}
      title={`id ${id}`}
      className={`mr-px rounded-sm border border-line px-px ${preview.specialIds.includes(id) ? 'bg-raised font-semibold text-accent' : ''}`}
    >
      <MarkedPiece id={id} vocab={preview.vocab} />
    </span>
  ))
