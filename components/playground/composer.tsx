'use client'
import { ArrowUp, Plus, Square } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { Button } from '../ui/button.tsx'

interface ComposerProps {
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onSend: () => void
  readonly onStop: () => void
  /** starting: sent, and not under way yet; running: a rollout is under way; stopping: it has been asked to end. */
  readonly state: 'ready' | 'starting' | 'running' | 'stopping'
  /** The first question, or a further turn on the same tokens. */
  readonly isFirst: boolean
  /** Leaves this trajectory for a new one. */
  readonly onStartOver: () => void
}

const STOP_TEXTS = { starting: 'Starting … stop', running: 'Stop', stopping: 'Stopping …' } as const

export function Composer({ text, onChange, onSend, onStop, state, isFirst, onStartOver }: ComposerProps) {
  const canSend = state === 'ready' && text.trim() !== ''
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    if (canSend) onSend()
  }
  return (
    <div className="flex items-end gap-2 bg-ground p-3">
      {!isFirst && state === 'ready' && (
        <Button className="min-h-9.5" onClick={onStartOver} title="Start a new run; this one stays stored">
          <Plus size={15} aria-hidden /> <span className="max-sm:sr-only">New run</span>
        </Button>
      )}
      <textarea
        aria-label={isFirst ? 'Question' : 'Next turn'}
        rows={Math.min(8, Math.max(1, text.split('\n').length))}
        className="field-sizing-content block max-h-48 min-h-9.5 w-full min-w-0 flex-1 resize-none rounded-md border border-line bg-raised px-3 py-2 placeholder:text-faint hover:border-line-strong"
        placeholder={isFirst ? 'Ask something' : 'Next turn, same tokens'}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {state === 'ready' ? (
        <Button look="primary" className="min-h-9.5" disabled={!canSend} onClick={onSend}>
          Send <kbd className="font-sans text-xs opacity-70 max-sm:hidden">⌘/Ctrl ↵</kbd>
          <ArrowUp size={15} aria-hidden className="sm:hidden" />
        </Button>
      ) : (
        <Button className="min-h-9.5" disabled={state === 'stopping'} onClick={onStop}>
          <Square size={13} aria-hidden /> {STOP_TEXTS[state]}
        </Button>
      )}
    </div>
  )
}
