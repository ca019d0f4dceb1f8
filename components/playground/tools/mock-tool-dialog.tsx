'use client'
/** Editor of a mock tool: its description for the model, and its reply when it is called. */
import { type ClipboardEvent, type KeyboardEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { replyTo } from '#lib/tools/mock-reply.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import { parseWrittenJson } from '../prompt/json-lines.ts'
import { sampleInput } from '../prompt/sample-input.ts'
import { FIRST_DRAFT, type MockToolDraft, mockToolDraftOf, toolOf } from './mock-tool-draft.ts'
import { foreignSpec } from './tool-import.ts'

interface MockToolDialogProps {
  /** The tool to edit; undefined for a new one. */
  readonly tool: MockTool | undefined
  /** Names of the other mock tools. */
  readonly others: readonly string[]
  /** Names of the tools that come with Rollscope. */
  readonly builtIn: readonly string[]
  readonly isReadOnly: boolean
  readonly onSave: (tool: MockTool) => void
  readonly onClose: () => void
}

const FAILURES = [
  ['never', 'never'],
  ['always', 'every call'],
  ['calls', 'these calls'],
  ['every', 'every nth call'],
] as const

/** Dialog that edits a mock tool and saves it once it is valid. */
export function MockToolDialog({ tool, others, builtIn, isReadOnly, onSave, onClose }: MockToolDialogProps) {
  const [draft, setDraft] = useState(() => (tool ? mockToolDraftOf(tool) : FIRST_DRAFT))
  /** Whether the user has tried to save; errors of empty fields are shown only after that. */
  const [isOffered, setIsOffered] = useState(false)
  const [pasted, setPasted] = useState<string>()
  const result = toolOf(draft, others)
  const set = <K extends keyof MockToolDraft>(field: K, value: MockToolDraft[K]) =>
    setDraft({ ...draft, [field]: value })
  const field = (name: keyof MockToolDraft) => ({
    value: draft[name],
    readOnly: isReadOnly,
    error: !result.ok && (isOffered || draft[name].trim() !== '') ? result.errors[name] : undefined,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => set(name, target.value),
  })
  const save = () => {
    setIsOffered(true)
    if (result.ok) onSave(result.tool)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isReadOnly || event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    save()
  }
  const onPaste = (event: ClipboardEvent) => {
    const spec = isReadOnly ? undefined : foreignSpec(event.clipboardData.getData('text'))
    if (!spec) return
    event.preventDefault()
    setPasted(spec.form)
    setDraft({
      ...draft,
      name: spec.name,
      description: spec.description,
      schema: JSON.stringify(spec.inputSchema, null, 2),
    })
  }
  return (
    <Dialog title={isReadOnly ? 'Mock tool of this run' : 'Mock tool'} closesBeside={isReadOnly} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the handlers serve the fields inside */}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3" onKeyDown={onKeyDown} onPaste={onPaste}>
        <TextField label="Name" data-first-focus="" {...field('name')} />
        {builtIn.includes(draft.name.trim()) && (
          <p className="-mt-1.5 text-dim text-xs">It replaces the built-in {draft.name.trim()}.</p>
        )}
        <TextArea label="Description, for the model" rows={2} {...field('description')} />
        <div>
          <TextArea
            label="Arguments, JSON Schema"
            rows={9}
            className="font-mono text-xs"
            spellCheck={false}
            {...field('schema')}
          />
          {!isReadOnly && (
            <p className="mt-1 text-faint text-xs" role="status">
              {pasted === undefined
                ? 'A tool of OpenAI, Strands, MCP or Anthropic, pasted anywhere here, fills name, description and schema.'
                : `Filled from a tool in the form of ${pasted}.`}
            </p>
          )}
        </div>
        <Reply draft={draft} isReadOnly={isReadOnly} onKind={(kind) => set('replyKind', kind)} field={field} />
        <div className="grid grid-cols-2 gap-2.5">
          <TextField label="Delay, ms" inputMode="numeric" placeholder="none" {...field('delayMs')} />
          <SelectField
            label="Fails"
            disabled={isReadOnly}
            value={draft.failureKind}
            onChange={(event) => set('failureKind', event.target.value as MockToolDraft['failureKind'])}
          >
            {FAILURES.map(([kind, text]) => (
              <option key={kind} value={kind}>
                {text}
              </option>
            ))}
          </SelectField>
          {(draft.failureKind === 'calls' || draft.failureKind === 'every') && (
            <TextField
              label={draft.failureKind === 'calls' ? 'Which calls, from 1' : 'n'}
              inputMode="numeric"
              explanation="Calls of this tool are counted over the whole trajectory, in the order in which they are written"
              {...field('failing')}
            />
          )}
          {draft.failureKind !== 'never' && (
            <div className={draft.failureKind === 'always' ? 'col-span-2' : ''}>
              <TextField label="Error that the model reads" {...field('error')} />
            </div>
          )}
        </div>
        {!isReadOnly && (
          <div className="sticky bottom-0 -mx-4 -mb-4 flex items-center justify-end gap-2 border-line border-t bg-ground px-4 py-2.5">
            {isOffered && !result.ok && (
              <p className="min-w-0 flex-1 text-bad text-xs" role="alert">
                Not saved yet: check {fieldNames(result.errors)}.
              </p>
            )}
            <Button onClick={onClose}>Cancel</Button>
            <Button look="primary" onClick={save}>
              Save <kbd className="font-sans text-xs opacity-70 max-sm:hidden">⌘/Ctrl ↵</kbd>
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  name: 'the name',
  description: 'the description',
  schema: 'the schema',
  reply: 'the reply',
  delayMs: 'the delay',
  failing: 'the calls that fail',
  error: 'the error',
}

const fieldNames = (errors: object): string =>
  Object.keys(errors)
    .map((field) => FIELD_NAMES[field])
    .join(', ')

const REPLY_KINDS = [
  { value: 'canned', text: 'Canned' },
  { value: 'templated', text: 'Templated' },
] as const

interface ReplyProps {
  readonly draft: MockToolDraft
  readonly isReadOnly: boolean
  readonly onKind: (kind: MockToolDraft['replyKind']) => void
  readonly field: (name: 'reply') => object
}

/** The reply, with the text that the model would read for arguments that the user can try. */
function Reply({ draft, isReadOnly, onKind, field }: ReplyProps) {
  const [typed, setTyped] = useState<string>()
  const schema = parseWrittenJson(draft.schema)
  const sample = typed ?? JSON.stringify(sampleInput(schema.ok ? schema.value : {}))
  const input = parseWrittenJson(sample)
  const reply =
    draft.replyKind === 'canned'
      ? ({ kind: 'canned', text: draft.reply } as const)
      : ({ kind: 'templated', template: draft.reply } as const)
  return (
    <div className="grid gap-2.5 rounded-md border border-line p-2.5">
      {isReadOnly ? (
        <p className="text-dim text-xs">{draft.replyKind === 'canned' ? 'Canned' : 'Templated'} reply</p>
      ) : (
        <Segmented label="Kind of reply" options={REPLY_KINDS} value={draft.replyKind} onChange={onKind} />
      )}
      <div>
        <TextArea label="Reply" rows={2} className="font-mono text-xs" spellCheck={false} {...field('reply')} />
        {draft.replyKind === 'templated' && (
          <p className="mt-1 text-faint text-xs">
            <code>{'{{city}}'}</code>, <code>{'{{a.b.0}}'}</code>: arguments; <code>{'{{.}}'}</code>: all of them as
            JSON.
          </p>
        )}
      </div>
      <TextField
        label="Try it with arguments, JSON"
        className="font-mono text-xs"
        value={sample}
        error={input.ok ? undefined : input.error}
        onChange={(event) => setTyped(event.target.value)}
      />
      {input.ok && (
        <div>
          <p className="mb-1 text-dim text-xs">The model reads</p>
          <output className="block max-h-40 overflow-y-auto whitespace-pre-wrap rounded bg-panel p-2 font-mono text-xs [overflow-wrap:anywhere]">
            {replyTo({ reply }, input.value)}
          </output>
        </div>
      )}
    </div>
  )
}
