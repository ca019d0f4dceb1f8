'use client'
import { Plus, X } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { Select, TextArea, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { JsonPath } from '#lib/json/json-path.ts'
import { withoutValue, withValue } from '#lib/json/json-text.ts'
import {
  type FormCall,
  type FormField,
  type MessageCard,
  messageCards,
  NEW_CALL,
  withMessage,
} from '#lib/templates/document/message-form.ts'
import { JsonField } from '../editor/json-field.tsx'
import { Unreadable } from '../editor/unreadable.tsx'
import { FormCard, useCards, useEntryKeys } from './form-card.tsx'

interface MessagesFormProps {
  /** JSON list of messages. */
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onText: () => void
}

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer'] as const

/** Form of the conversation as cards. A change edits only its part of the text, so fields that the form lacks are kept. */
export function MessagesForm({ text, onChange, onText }: MessagesFormProps) {
  const read = messageCards(text)
  const cards = read.kind === 'unreadable' ? [] : read.cards
  const { list, keys, append, movesOf, duplicate, remove } = useCards(text, cards.length, onChange)
  if (read.kind === 'unreadable') return <Unreadable why={read.why} onText={onText} />
  return (
    <div className="grid gap-2.5 p-3">
      <ol ref={list} aria-label="Messages" className="grid gap-2.5">
        {cards.map((card, at) => (
          <FormCard
            key={keys[at]}
            name={`message ${at + 1}`}
            head={
              <>
                <span className="w-5 text-right text-faint text-xs tabular-nums">{at + 1}</span>
                <RoleSelect
                  name={`Role of message ${at + 1}`}
                  role={card.role}
                  onChange={(role) => onChange(withValue(text, [at, 'role'], JSON.stringify(role)))}
                />
              </>
            }
            onMove={movesOf(at)}
            onDuplicate={() => duplicate(at)}
            onDelete={() => remove(withoutValue(text, [at]), at)}
          >
            <MessageFields card={card} at={at} text={text} onChange={onChange} />
          </FormCard>
        ))}
      </ol>
      {cards.length === 0 && <p className="text-dim">No messages yet. A conversation needs at least one.</p>}
      <div className="flex flex-wrap gap-2">
        {(['user', 'assistant', 'tool', 'system'] as const).map((role) => (
          <Button key={role} onClick={() => append(withMessage(text, cards.length - 1, role))}>
            <Plus size={14} aria-hidden /> {role}
          </Button>
        ))}
      </div>
    </div>
  )
}

interface RoleSelectProps {
  readonly name: string
  readonly role: string
  readonly onChange: (role: string) => void
}

function RoleSelect({ name, role, onChange }: RoleSelectProps) {
  const roles: readonly string[] = ROLES
  return (
    <Select aria-label={name} className="font-medium" value={role} onChange={(event) => onChange(event.target.value)}>
      {!roles.includes(role) && <option value={role}>{role === '' ? 'no role' : role}</option>}
      {roles.map((known) => (
        <option key={known}>{known}</option>
      ))}
    </Select>
  )
}

interface MessageFieldsProps {
  readonly card: MessageCard
  readonly at: number
  readonly text: string
  readonly onChange: (text: string) => void
}

function MessageFields({ card, at, text, onChange }: MessageFieldsProps) {
  const set = (path: JsonPath, source: string | undefined) =>
    onChange(source === undefined ? withoutValue(text, [at, ...path]) : withValue(text, [at, ...path], source))
  const isAssistant = card.role === 'assistant'
  const calls = useEntryKeys(card.toolCalls.length)
  const removeCall = (index: number) => {
    calls.remove(index)
    set(card.toolCalls.length === 1 ? ['tool_calls'] : ['tool_calls', index], undefined)
  }
  return (
    <>
      {(card.role === 'tool' || card.toolCallId !== undefined) && (
        <TextField
          label="tool_call_id"
          className="font-mono text-[12px]"
          value={card.toolCallId ?? ''}
          onChange={({ target: { value } }) => set(['tool_call_id'], value === '' ? undefined : JSON.stringify(value))}
        />
      )}
      {card.reasoning && (
        <div className="flex items-start gap-1">
          <div className="min-w-0 flex-1">
            <ValueField
              label="reasoning_content"
              field={card.reasoning}
              onChange={(source) => set(['reasoning_content'], source)}
            />
          </div>
          <IconButton
            label={`Remove the reasoning of message ${at + 1}`}
            onClick={() => set(['reasoning_content'], undefined)}
          >
            <X size={14} aria-hidden />
          </IconButton>
        </div>
      )}
      <ValueField label="content" field={card.content} onChange={(source) => set(['content'], source)} />
      {card.toolCalls.map((call, index) => (
        <CallFields
          key={calls.keys[index]}
          name={`call ${index + 1} of message ${at + 1}`}
          call={call}
          onSet={(path, source) => set(['tool_calls', index, ...path], source)}
          onRemove={() => removeCall(index)}
        />
      ))}
      {(isAssistant || card.others.length > 0) && (
        <div className="flex flex-wrap items-center gap-1">
          {isAssistant && (
            <>
              {!card.reasoning && (
                <Button look="quiet" onClick={() => set(['reasoning_content'], '""')}>
                  <Plus size={14} aria-hidden /> reasoning
                </Button>
              )}
              {!card.others.includes('tool_calls') && (
                <Button
                  look="quiet"
                  onClick={() =>
                    card.toolCalls.length === 0
                      ? set(['tool_calls'], `[${NEW_CALL}]`)
                      : set(['tool_calls', card.toolCalls.length], NEW_CALL)
                  }
                >
                  <Plus size={14} aria-hidden /> tool call
                </Button>
              )}
            </>
          )}
          {card.others.length > 0 && (
            <span className="text-faint text-xs">also in the JSON: {card.others.join(', ')}</span>
          )}
        </div>
      )}
    </>
  )
}

interface ValueFieldProps {
  readonly label: string
  readonly field: FormField
  readonly onChange: (source: string) => void
}

/** Field that shows a text as plain text and any other value as JSON. */
function ValueField({ label, field, onChange }: ValueFieldProps) {
  if (field.kind === 'json') return <JsonField label={`${label}, JSON`} source={field.source} onChange={onChange} />
  return (
    <TextArea
      label={field.kind === 'missing' ? `${label} (missing)` : label}
      className="field-sizing-content max-h-72 min-h-8 font-mono text-[12px]"
      rows={1}
      spellCheck={false}
      value={field.kind === 'text' ? field.text : ''}
      onChange={(event) => onChange(JSON.stringify(event.target.value))}
    />
  )
}

interface CallFieldsProps {
  readonly name: string
  readonly call: FormCall
  /** Sets the value at a path from the call; undefined removes it. */
  readonly onSet: (path: JsonPath, source: string | undefined) => void
  readonly onRemove: () => void
}

function CallFields({ name, call, onSet, onRemove }: CallFieldsProps) {
  const { id, holder, arguments: callArguments } = call
  return (
    <fieldset className="grid gap-2 border-tool border-l-2 pl-2.5">
      <legend className="sr-only">{name}</legend>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label="calls"
            className="font-mono text-[12px]"
            value={call.name}
            onChange={(event) => onSet([...holder, 'name'], JSON.stringify(event.target.value))}
          />
        </div>
        <div className="w-32 min-w-0">
          <TextField
            label="id"
            className="font-mono text-[12px]"
            value={id ?? ''}
            onChange={({ target: { value } }) => onSet(['id'], value === '' ? undefined : JSON.stringify(value))}
          />
        </div>
        <IconButton label={`Delete ${name}`} onClick={onRemove}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      {callArguments.kind === 'text' ? (
        <TextArea
          label="arguments, a text"
          className="field-sizing-content max-h-72 min-h-8 font-mono text-[12px]"
          rows={1}
          spellCheck={false}
          value={callArguments.text}
          onChange={(event) => onSet([...holder, 'arguments'], JSON.stringify(event.target.value))}
        />
      ) : (
        <JsonField
          label="arguments, JSON"
          source={callArguments.kind === 'json' ? callArguments.source : ''}
          onChange={(source) => onSet([...holder, 'arguments'], source)}
        />
      )}
    </fieldset>
  )
}
