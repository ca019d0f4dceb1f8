'use client'
import { type ReactNode, Suspense, useRef, useState } from 'react'
import { useBoundedText } from '#components/sharing/use-bounded-text.ts'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { Button } from '#components/ui/button.tsx'
import { CheckField, SelectField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { PreviewQuestion } from '#lib/api/prompt-preview.ts'
import { LONGEST_PROMPT } from '#lib/sampling/dialects/text-limits.ts'
import { parseConversation } from '#lib/share/settings/conversation-text.ts'
import { placeOfId, readIds } from '#lib/share/settings/ids-text.ts'
import type { PromptDraft } from '#lib/share/settings/prompt-draft.ts'
import { type AskPreview, PromptPreviewPanel } from './prompt-preview.tsx'

const MessagesForm = lazyCode(async () => (await import('#components/templates/forms/messages-form.tsx')).MessagesForm)

interface PromptEditorProps {
  readonly draft: PromptDraft
  readonly onChange: (change: Partial<PromptDraft>) => void
  readonly onPreview: AskPreview
  readonly previewed: Pick<PreviewQuestion, 'server' | 'tokenizer'>
}

/** Editor of a first prompt that is a conversation, a text or token ids. */
export function PromptEditor(props: PromptEditorProps) {
  switch (props.draft.mode) {
    case 'question':
      return null
    case 'conversation':
      return <ConversationEditor {...props} />
    case 'text':
      return <RawTextPrompt {...props} />
    case 'ids':
      return <RawIdsPrompt {...props} />
  }
}

const AREA =
  'block max-h-[38dvh] min-h-28 w-full resize-y rounded-md border border-line bg-raised px-3 py-2 font-mono text-[12.5px] leading-5 placeholder:text-faint hover:border-line-strong aria-invalid:border-bad'

const FORM_OR_JSON = [
  { value: 'form', text: 'Form' },
  { value: 'json', text: 'JSON' },
] as const

function ConversationEditor({ draft, onChange }: PromptEditorProps) {
  const [as, setAs] = useState<'form' | 'json'>('form')
  const { conversation } = draft
  const { take, takeFile, refusal } = useBoundedText(LONGEST_PROMPT, (text) => onChange({ conversation: text }))
  const read = parseConversation(conversation === '' ? '[]' : conversation)
  const isBegun = conversation !== '' && conversation !== '[]'
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 text-xs">
        <Segmented label="Conversation as" options={FORM_OR_JSON} value={as} onChange={setAs} />
        <FileButton accept=".json,application/json" label="File with messages" onFile={takeFile}>
          Open…
        </FileButton>
        <span className="text-dim">The conversation has its own system message, so the setup’s is not used.</span>
      </div>
      {as === 'form' ? (
        <div className="max-h-[42dvh] overflow-y-auto rounded-md border border-line">
          <Suspense fallback={<div className="h-40" />}>
            <MessagesForm text={isBegun ? conversation : '[]'} onChange={take} onText={() => setAs('json')} />
          </Suspense>
        </div>
      ) : (
        <textarea
          aria-label="Conversation, JSON"
          aria-invalid={isBegun && !read.ok}
          className={AREA}
          spellCheck={false}
          placeholder='[{"role": "user", "content": "…"}]'
          value={conversation}
          onChange={(event) => take(event.target.value)}
        />
      )}
      <Refusal text={refusal} />
      {isBegun && !read.ok && (
        <p className="text-bad text-xs" role="status">
          {read.why}
        </p>
      )}
    </>
  )
}

function RawTextPrompt({ draft, onChange, onPreview, previewed }: PromptEditorProps) {
  const question = draft.text === '' ? undefined : { ...previewed, text: draft.text }
  const { take, takeFile, refusal } = useBoundedText(LONGEST_PROMPT, (text) => onChange({ text }))
  return (
    <>
      <textarea
        aria-label="Prompt, text"
        className={AREA}
        spellCheck={false}
        placeholder="Once upon a time …  Special tokens such as <|im_start|> become their ids."
        value={draft.text}
        onChange={(event) => take(event.target.value)}
      />
      <Refusal text={refusal} />
      <PromptPreviewPanel question={question} onPreview={onPreview} />
      <RunsTools draft={draft} onChange={onChange}>
        <FileButton accept="text/*,.txt,.md,.jinja" label="File with the prompt" onFile={takeFile}>
          Open…
        </FileButton>
      </RunsTools>
    </>
  )
}

function RawIdsPrompt({ draft, onChange, onPreview, previewed }: PromptEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const read = readIds(draft.ids, draft.record)
  const { take, takeFile, refusal } = useBoundedText(LONGEST_PROMPT, (ids) => onChange({ ids, record: 0 }))
  const question =
    read.ok && read.ids.length > 0
      ? { ...previewed, ids: read.ids, ...(read.text !== undefined && { text: read.text }) }
      : undefined
  const show = (start: number, end: number) => {
    area.current?.focus()
    area.current?.setSelectionRange(start, end)
  }
  return (
    <>
      <textarea
        ref={area}
        aria-label="Prompt, token ids"
        aria-invalid={!read.ok}
        className={AREA}
        spellCheck={false}
        placeholder='151644 872 198 …   [151644, 872]   {"input_ids": […]}   array([151644, 872])'
        value={draft.ids}
        onChange={(event) => take(event.target.value)}
      />
      <Refusal text={refusal} />
      {!read.ok && (
        <p className="flex flex-wrap items-center gap-2 text-bad text-xs" role="status">
          <span>
            {lineAndColumn(draft.ids, read.at)}: {read.why}
          </span>
          <Button onClick={() => show(read.at, wordEnd(draft.ids, read.at))}>Show it</Button>
        </p>
      )}
      {read.ok && read.records > 1 && (
        <SelectField
          label="Record"
          value={String(draft.record)}
          onChange={(event) => onChange({ record: Number(event.target.value) })}
        >
          {Array.from({ length: Math.min(read.records, MOST_RECORDS) }, (_, record) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the identity of a record
            <option key={record} value={record}>
              {record + 1} of {read.records}
            </option>
          ))}
        </SelectField>
      )}
      <PromptPreviewPanel
        question={question}
        onPreview={onPreview}
        onField={(field) => {
          const index = /^ids\.(\d+)$/.exec(field)?.[1]
          const place = index === undefined ? undefined : placeOfId(draft.ids, Number(index))
          return place && (() => show(place.start, place.end))
        }}
      />
      <RunsTools draft={draft} onChange={onChange}>
        <FileButton accept=".json,.jsonl,.txt,.csv,text/*,application/json" label="File with ids" onFile={takeFile}>
          Open…
        </FileButton>
      </RunsTools>
    </>
  )
}

const Refusal = ({ text }: { readonly text: string | undefined }) =>
  text !== undefined && (
    <p className="text-bad text-xs" role="alert">
      {text}
    </p>
  )

const MOST_RECORDS = 1000

function RunsTools({
  draft,
  onChange,
  children,
}: Pick<PromptEditorProps, 'draft' | 'onChange'> & { readonly children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      {children}
      <CheckField
        label="Run tools"
        note={
          draft.runsTools
            ? 'calls in the response are run with the tools of the setup; results are added with the chat template'
            : 'off: one response, even if it calls tools'
        }
        checked={draft.runsTools}
        onChange={(event) => onChange({ runsTools: event.target.checked })}
      />
    </div>
  )
}

function lineAndColumn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

const wordEnd = (text: string, at: number): number => at + (/^[^\s,;\]]*/.exec(text.slice(at))?.[0].length ?? 0)
