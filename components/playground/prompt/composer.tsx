'use client'
import { ArrowUp, ImagePlus, Plus, Square } from 'lucide-react'
import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  Suspense,
  useId,
  useLayoutEffect,
  useRef,
} from 'react'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { Button } from '#components/ui/button.tsx'
import type { PreviewQuestion } from '#lib/api/prompt-preview.ts'
import { currentText, PROMPT_MODES, type PromptMode, type PromptWithImages } from '#lib/share/settings/prompt-draft.ts'
import type { AskPreview } from './prompt-preview.tsx'

/** The editor of conversations, texts and ids is loaded on demand, because most runs begin with a question. */
const PromptEditor = lazyCode(async () => (await import('./prompt-editor.tsx')).PromptEditor)

/** Loaded with the first image. */
const AttachedImages = lazyCode(async () => (await import('./attached-images.tsx')).AttachedImages)

interface ComposerProps {
  readonly draft: PromptWithImages
  readonly onChange: (change: Partial<PromptWithImages>) => void
  /** Attaches image files to the question. */
  readonly onAttach: (files: readonly File[]) => void
  /** Why the server takes no images; undefined if it does. */
  readonly noImages?: string | undefined
  /** Why the server cannot serve the next call; undefined if it can. */
  readonly refusal?: string | undefined
  readonly onSend: () => void
  /** Called when the focus reaches the text, or the pointer or the focus reaches Send. */
  readonly onUse?: () => void
  readonly onStop: () => void
  /** starting: sent, without an answer so far; running: a rollout is in progress; stopping: it was requested to stop. */
  readonly state: 'ready' | 'starting' | 'running' | 'stopping'
  /** Whether the stored setup is still being read. Until then nothing can be sent. */
  readonly isSetupReading?: boolean
  /** Whether the prompt is the first one. A later prompt is a further turn on the same tokens and always a question. */
  readonly isFirst: boolean
  /** Note that is shown if a further turn is added in another way than the run began; undefined: no note. */
  readonly turnNote?: ReactNode
  /** Closes this trajectory so that the next prompt begins a new one. */
  readonly onStartOver: () => void
  /** Previews the tokens of a text or ids. */
  readonly onPreview: AskPreview
  /** Server and tokenizer for the preview. */
  readonly previewed: Pick<PreviewQuestion, 'server' | 'tokenizer'>
  /** Further controls beside the prompt mode, such as the number of samples. */
  readonly children?: ReactNode
}

/** Longest pause between two keystrokes of one intended press, in milliseconds. Double clicks are known by `detail`. */
const SECOND_STROKE_MS = 500

const STOP_TEXTS = { starting: 'Starting… Stop', running: 'Stop', stopping: 'Stopping…' } as const

/** Editor of the next prompt, with the buttons that send it and stop the run. */
export function Composer(props: ComposerProps) {
  const { draft, onChange, onAttach, noImages, refusal, onSend, onStop, state, isFirst, onStartOver, children } = props
  const { images = [] } = draft
  const hasEditor = isFirst && draft.mode !== 'question'
  const isBlocked = state === 'ready' && refusal !== undefined
  const isEmpty = (hasEditor ? currentText(draft) : draft.question).trim() === ''
  const canSend = state === 'ready' && !isEmpty && !isBlocked && !props.isSetupReading
  // Send and Stop are the same button, so the second click of a double click must do nothing.
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  const once = (action: () => void) => (event: MouseEvent) => {
    const isSecond =
      event.detail > 1 || (event.detail === 0 && performance.now() - pressedAt.current < SECOND_STROKE_MS)
    if (isSecond) return
    pressedAt.current = performance.now()
    action()
  }
  const focusRepair = useFocusRepair()
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    if (canSend && !event.repeat) onSend()
  }
  const button: ReactNode =
    state === 'ready' ? (
      <Button
        data-send
        look="primary"
        className="min-h-9.5"
        disabled={!canSend}
        onClick={once(onSend)}
        onPointerEnter={props.onUse}
        onFocus={props.onUse}
      >
        Send <kbd className="font-sans text-xs opacity-70 max-sm:hidden">⌘/Ctrl ↵</kbd>
        <ArrowUp size={15} aria-hidden className="sm:hidden" />
      </Button>
    ) : (
      <Button data-send className="min-h-9.5" disabled={state === 'stopping'} onClick={once(onStop)}>
        <Square size={13} aria-hidden /> {STOP_TEXTS[state]}
      </Button>
    )
  return (
    <div className="bg-ground" {...focusRepair}>
      {isFirst && state === 'ready' && (
        <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 px-3.5 pt-1.5 text-xs">
          <PromptModes mode={draft.mode} onChange={(mode) => onChange({ mode })} />
          {children}
        </div>
      )}
      {!isFirst && state === 'ready' && props.turnNote !== undefined && (
        <p className="flex flex-wrap items-center gap-x-2 px-3.5 pt-2 text-dim text-xs">{props.turnNote}</p>
      )}
      {isBlocked && (
        <p role="alert" className="px-3.5 pt-2 text-bad text-xs">
          {refusal}
        </p>
      )}
      {hasEditor ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: the handler serves the fields inside
        <div className="grid gap-2 p-3" onKeyDown={onKeyDown}>
          <Suspense fallback={<div className="h-40" />}>
            <PromptEditor draft={draft} onChange={onChange} onPreview={props.onPreview} previewed={props.previewed} />
          </Suspense>
          <div className="flex justify-end">{button}</div>
        </div>
      ) : (
        <>
          {images.length > 0 && (
            <Suspense fallback={<div className="h-19" />}>
              <AttachedImages
                images={images}
                onRemove={(index) => onChange({ images: images.filter((_, at) => at !== index) })}
              />
            </Suspense>
          )}
          <div className="flex items-end gap-2 p-3">
            {!isFirst && state === 'ready' && (
              <Button className="min-h-9.5" onClick={onStartOver} title="Start a new run; this one stays stored">
                <Plus size={15} aria-hidden /> <span className="max-sm:sr-only">New run</span>
              </Button>
            )}
            <AttachButton onAttach={onAttach} noImages={noImages} />
            <textarea
              data-composer
              aria-label={isFirst ? 'Question' : 'Next turn'}
              rows={Math.min(8, Math.max(1, draft.question.split('\n').length))}
              className="field-sizing-content block max-h-48 min-h-9.5 w-full min-w-0 flex-1 resize-none rounded-md border border-line bg-raised px-3 py-2 placeholder:text-faint hover:border-line-strong"
              placeholder={isFirst ? 'Ask something' : 'Next turn, same tokens'}
              value={draft.question}
              onChange={(event) => onChange({ question: event.target.value })}
              onKeyDown={onKeyDown}
              onFocus={props.onUse}
              onPaste={(event) => {
                // A copied text may come with a picture of itself.
                if (event.clipboardData.types.includes('text/plain') || event.clipboardData.files.length === 0) return
                event.preventDefault()
                onAttach([...event.clipboardData.files])
              }}
            />
            {button}
          </div>
        </>
      )}
    </div>
  )
}

/**
 * Moves the focus to the field when the button that has it disappears or is disabled: Stop at the end of a run, New run at the
 * start of one. Otherwise the browser moves the focus to the beginning of the page. Returns the properties of the box.
 */
function useFocusRepair() {
  const ref = useRef<HTMLDivElement>(null)
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    const { activeElement } = document
    const isLost =
      activeElement === document.body || activeElement?.matches(':disabled, [data-send][aria-disabled="true"]') === true
    if (hadFocus.current && isLost) ref.current?.querySelector('textarea')?.focus()
  })
  return {
    ref,
    onFocus: () => {
      hadFocus.current = true
    },
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
      hadFocus.current = currentTarget.contains(relatedTarget)
    },
  }
}

/** Button that chooses image files. Without images on the server it stays focusable, and says why. */
function AttachButton({ onAttach, noImages }: Pick<ComposerProps, 'onAttach' | 'noImages'>) {
  const input = useRef<HTMLInputElement>(null)
  const reason = useId()
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        multiple
        aria-label="Image files"
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          target.value = ''
          if (files.length > 0) onAttach(files)
        }}
      />
      <Button
        className="min-h-9.5"
        aria-label="Attach images"
        aria-disabled={noImages !== undefined}
        aria-describedby={noImages === undefined ? undefined : reason}
        title={noImages ?? 'Attach images: PNG, JPEG, WebP or GIF. They can also be pasted or dropped.'}
        // Without files, the refusal is shown.
        onClick={() => (noImages === undefined ? input.current?.click() : onAttach([]))}
      >
        <ImagePlus size={16} aria-hidden />
      </Button>
      {noImages !== undefined && (
        <span id={reason} className="sr-only">
          {noImages}
        </span>
      )}
    </>
  )
}

interface PromptModesProps {
  readonly mode: PromptMode
  readonly onChange: (mode: PromptMode) => void
}

const NAMES = { question: 'Question', conversation: 'Conversation', text: 'Text', ids: 'Ids' } as const
const TITLES = {
  question: 'A question, after the system prompt',
  conversation: 'A whole conversation through the chat template',
  text: 'The prompt as text, without a chat template',
  ids: 'The prompt as token ids, unchanged',
} as const

/** Buttons that choose how a run begins: with a question, a conversation, a text or ids. */
const PromptModes = ({ mode, onChange }: PromptModesProps) => (
  <fieldset className="flex gap-3">
    <legend className="sr-only">Prompt as</legend>
    {PROMPT_MODES.map((one) => (
      <button
        key={one}
        type="button"
        title={TITLES[one]}
        aria-pressed={one === mode}
        onClick={() => onChange(one)}
        className="-mb-1 min-w-6 shrink-0 border-transparent border-b-2 py-0.5 text-dim hover:text-ink aria-pressed:border-accent aria-pressed:font-medium aria-pressed:text-ink"
      >
        {NAMES[one]}
      </button>
    ))}
  </fieldset>
)
