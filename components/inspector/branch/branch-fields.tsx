/** The fields of a branch: the text or ids to insert, the message to edit, and the settings that it changes. */
import { useQuery } from '@tanstack/react-query'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import { requestAt } from '#lib/trajectory/messages/response-calls.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { type BranchDraft, type DraftField, editableMessages } from './branch-draft.ts'

interface FieldsProps {
  readonly draft: BranchDraft
  /** Returns why a field is wrong; undefined if it is not. */
  readonly errorOf: (field: DraftField) => string | undefined
  readonly onChange: (changes: Partial<BranchDraft>) => void
}

/** Edits the text or the ids that a branch inserts. */
export function ForceFields({ draft, errorOf, onChange }: FieldsProps) {
  const isText = draft.insertion === 'text'
  const name = isText ? 'Text' : 'Token ids'
  return (
    <div className="grid gap-1.5 text-xs">
      <Segmented<'text' | 'ids'>
        label="What is inserted"
        value={isText ? 'text' : 'ids'}
        onChange={(insertion) => onChange({ insertion })}
        options={[
          { value: 'text', text: 'Text' },
          { value: 'ids', text: 'Token ids' },
        ]}
      />
      <TextArea
        label={isText ? 'Text, which the tokenizer encodes' : 'Token ids, with commas or spaces between them'}
        explanation={isText ? 'Special tokens in the text become their ids.' : 'The ids are inserted unchanged.'}
        error={sentence(isText ? 'The text' : name, errorOf('text'))}
        rows={2}
        className="font-mono"
        value={draft.text}
        onChange={(event) => onChange({ text: event.target.value })}
      />
    </div>
  )
}

/** Edits a message of the token's prompt. */
export function MessageFields({
  trajectory,
  token,
  draft,
  errorOf,
  onChange,
}: FieldsProps & { readonly trajectory: TrajectoryView; readonly token: Token }) {
  const messages = editableMessages(trajectory, token)
  return (
    <>
      {messages.length > 1 && (
        <SelectField
          label="Message"
          value={draft.message}
          onChange={(event) => {
            const message = Number(event.target.value)
            onChange({ message, text: messages[message]?.text ?? '' })
          }}
        >
          {messages.map(({ role, text, index }) => (
            <option key={index} value={index}>
              {role === 'tool' ? 'tool result' : role}: {visibleText(excerpt(text, 40))}
            </option>
          ))}
        </SelectField>
      )}
      <TextArea
        label={
          messages[draft.message]?.role === 'tool'
            ? 'Tool result'
            : `Text of the ${messages[draft.message]?.role} message`
        }
        error={sentence('The text', errorOf('text'))}
        rows={4}
        className="font-mono"
        value={draft.text}
        onChange={(event) => onChange({ text: event.target.value })}
      />
    </>
  )
}

/** Edits the sampling parameters of a branch. */
export function SamplingFields({
  trajectory,
  token,
  draft,
  errorOf,
  onChange,
}: FieldsProps & { readonly trajectory: TrajectoryView; readonly token: Token }) {
  const { samplingParams = {} } = requestAt(trajectory, token) ?? {}
  const placeholder = (name: string) =>
    typeof samplingParams[name] === 'number' ? `${samplingParams[name]}, as here` : 'as here'
  const field = (label: string, name: 'temperature' | 'topP' | 'maxNewTokens', recorded: string) => (
    <TextField
      label={label}
      explanation="Empty: as in this trajectory"
      placeholder={placeholder(recorded)}
      inputMode="decimal"
      value={draft[name]}
      error={sentence('The number', errorOf(name))}
      onChange={(event) => onChange({ [name]: event.target.value })}
    />
  )
  return (
    <div className="grid grid-cols-2 gap-2">
      {field('Temperature', 'temperature', 'temperature')}
      {field('top_p', 'topP', 'top_p')}
      {field('max_new_tokens from here', 'maxNewTokens', 'max_new_tokens')}
    </div>
  )
}

interface ServerFieldProps {
  /** '' keeps the server of the trajectory. */
  readonly value: string
  readonly onChange: (server: string) => void
}

/** Chooses the server that continues a trajectory. */
export function ServerField({ value, onChange }: ServerFieldProps) {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers ?? []
  return (
    <SelectField label="Server" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">as in this trajectory</option>
      {servers.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

/** Chooses the server of a branch, and how often its tools may be called. */
export function ServerFields({ hasTools, draft, errorOf, onChange }: FieldsProps & { readonly hasTools: boolean }) {
  return (
    <div className="grid grid-cols-2 gap-2">
      <ServerField value={draft.server} onChange={(server) => onChange({ server })} />
      {hasTools && (
        <TextField
          label="Most rounds of tool calls"
          explanation="Responses with tool calls after the position. Empty: as in this trajectory. The prompt names the tools, so they stay."
          placeholder="as here"
          inputMode="numeric"
          value={draft.toolRounds}
          error={sentence('The number', errorOf('toolRounds'))}
          onChange={(event) => onChange({ toolRounds: event.target.value })}
        />
      )}
    </div>
  )
}

/** Returns an error as a sentence: the server's is one, and the draft's has no subject. */
const sentence = (subject: string, error: string | undefined): string | undefined =>
  error !== undefined && /^[a-z]/.test(error) ? `${subject} ${error}` : error
