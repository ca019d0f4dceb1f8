'use client'
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { CheckField, TextArea } from '#components/ui/field.tsx'
import type { StructuredAnswer } from '#lib/api/structured.ts'
import { readSamplingText } from '#lib/sampling/texts.ts'
import { schemaProblem } from '#lib/tools/json-schema-text.ts'

/** Result of a request for structured output. */
export type StructuredState =
  | { readonly kind: 'answered'; readonly reply: StructuredAnswer }
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string | undefined }

/** Values and callbacks of the dialog. */
export interface StructuredDialogProps {
  readonly prompt: string
  /** JSON Schema of an object, as typed. */
  readonly schema: string
  readonly onEdit: (draft: { readonly prompt: string; readonly schema: string }) => void
  readonly onAsk: (prompt: string, schema: object) => Promise<StructuredState>
  /** Sends the question as a further turn, which is recorded. */
  readonly onRecord: (prompt: string, schema: string) => void
  readonly onClose: () => void
}

type State = { readonly kind: 'idle' | 'asking' } | StructuredState

/** Dialog that asks a question after the tokens of a trajectory; the answer is JSON that matches a schema. */
export function StructuredForm({ prompt, schema, onEdit, onAsk, onRecord, onClose }: StructuredDialogProps) {
  const [isRecorded, setIsRecorded] = useState(false)
  const [state, setState] = useState<State>({ kind: 'idle' })
  const read = readSamplingText('json_schema', schema)
  const wrong = read.kind === 'problem' ? read.why : schemaProblem(schema)
  const isAskable = prompt.trim() !== '' && read.kind === 'value' && wrong === undefined
  const ask = async () => {
    if (isRecorded) return onRecord(prompt, schema)
    setState({ kind: 'asking' })
    setState(await onAsk(prompt, JSON.parse(schema)))
  }
  return (
    <Dialog title="Request structured output" onClose={onClose} closesBeside={false} width="wide">
      <div className="grid gap-3">
        <p className="text-dim text-xs">
          The question is added after the tokens of this trajectory, with thinking off if the template supports it. A
          grammar restricts the answer to the schema.
        </p>
        <TextArea
          label="Question"
          data-first-focus
          rows={2}
          value={prompt}
          onChange={({ target }) => onEdit({ prompt: target.value, schema })}
        />
        <TextArea
          label="JSON Schema of an object"
          rows={6}
          className="field-sizing-content max-h-72 font-mono text-xs"
          spellCheck={false}
          value={schema}
          error={wrong}
          onChange={({ target }) => onEdit({ prompt, schema: target.value })}
        />
        <CheckField
          label="Add as a next turn"
          note="off: the trajectory does not change"
          checked={isRecorded}
          onChange={({ target }) => setIsRecorded(target.checked)}
        />
        <div>
          <Button look="primary" disabled={state.kind === 'asking' || !isAskable} onClick={ask}>
            {state.kind === 'asking' ? 'Requesting…' : isRecorded ? 'Request and add' : 'Request'}
          </Button>
        </div>
        {state.kind === 'refused' && <Banner tone="bad" title={state.message} hint={state.hint} />}
        {state.kind === 'answered' && <Reply reply={state.reply} />}
      </div>
    </Dialog>
  )
}

function Reply({ reply }: { readonly reply: StructuredAnswer }) {
  const replyText = reply.value === undefined ? reply.text : JSON.stringify(reply.value, null, 2)
  return (
    <section aria-label="Answer">
      <div className="flex items-center justify-between gap-2">
        <Heading>Answer</Heading>
        <CopyButton text={replyText}>Copy</CopyButton>
      </div>
      <p role="status" className={`mb-1 text-xs ${reply.problem === undefined ? 'text-good' : 'text-bad'}`}>
        {reply.problem === undefined
          ? 'The answer matches the schema.'
          : `The answer does not match the schema: ${reply.problem}.`}
      </p>
      <pre className="max-h-80 overflow-auto whitespace-pre-wrap rounded-md border border-line bg-panel p-2.5 font-mono text-xs [overflow-wrap:anywhere]">
        {replyText}
      </pre>
      <p className="mt-1 text-faint text-xs">
        {countText(reply.promptTokens)} tokens read, {countText(reply.completionTokens)} written. Nothing was recorded.
      </p>
    </section>
  )
}
