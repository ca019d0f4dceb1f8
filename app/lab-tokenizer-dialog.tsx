'use client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Downloads } from '#components/playground/downloads.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { ApiError } from '#lib/client/api.ts'
import { downloadsOptions } from '#lib/client/queries.ts'
import { BUILT_IN, serverTokenizer, tokenizerTemplates } from '#lib/client/template-sources.ts'
import { useServerStatus } from './use-server-status.ts'

interface LabTokenizerDialogProps {
  readonly tokenizer: string
  readonly server: string
  readonly onChoose: (name: string) => void
  readonly onClose: () => void
}

/** Whose ids the lab shows. It is fetched before it is chosen, so that the lab never stands without one. */
export function LabTokenizerDialog({ tokenizer, server, onChoose, onClose }: LabTokenizerDialogProps) {
  const [name, setName] = useState(tokenizer)
  const [state, setState] = useState<'asking' | 'reading' | ApiError>('asking')
  const running = useRef(new AbortController())
  useEffect(() => () => running.current.abort(), [])
  const { status } = useServerStatus(server)
  const { data: waitingFor } = useQuery(downloadsOptions(state === 'reading'))
  const told = status.state === 'ready' ? serverTokenizer(server, status) : undefined
  const suggested = [...new Set([BUILT_IN, told ?? BUILT_IN])]
  const choose = async (wanted: string) => {
    running.current.abort()
    const controller = new AbortController()
    running.current = controller
    setState('reading')
    try {
      await tokenizerTemplates(wanted, controller.signal)
      if (!controller.signal.aborted) onChoose(wanted)
    } catch (error) {
      if (controller.signal.aborted) return
      if (!(error instanceof ApiError)) throw error
      setState(error)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    choose(name.trim())
  }
  return (
    <Dialog title="Choose a tokenizer" onClose={onClose}>
      <form className="grid gap-3" onSubmit={submit}>
        <TextField
          label="Hub name, a folder under ROLLSCOPE_TOKENIZERS, or built-in"
          placeholder="Qwen/Qwen3-8B"
          value={name}
          onChange={(event) => setName(event.target.value)}
          data-first-focus
          required
        />
        <div className="flex flex-wrap gap-2">
          {suggested.map((known) => (
            <Button key={known} onClick={() => choose(known)}>
              {known}
            </Button>
          ))}
        </div>
        <p className="text-faint text-xs">The ids and the special tokens are its own; the template stays as it is.</p>
        {state instanceof ApiError && <Banner tone="bad" title={state.message} hint={state.hint} />}
        {state === 'reading' && waitingFor && <Downloads downloads={waitingFor.downloads} />}
        <div className="flex items-center justify-end gap-3">
          {state === 'reading' && (
            <p className="text-faint text-xs" role="status">
              Reading the tokenizer …
            </p>
          )}
          <Button look="primary" type="submit" disabled={name.trim() === '' || state === 'reading'}>
            Choose
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
