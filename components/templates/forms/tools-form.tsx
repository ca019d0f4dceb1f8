'use client'
import { Plus } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { withoutValue, withValue } from '#lib/json/json-text.ts'
import { toolCards, withTool } from '#lib/templates/document/message-form.ts'
import { JsonField } from '../editor/json-field.tsx'
import { Unreadable } from '../editor/unreadable.tsx'
import { FormCard, useCards } from './form-card.tsx'

interface ToolsFormProps {
  /** JSON list of tools, or ''. */
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onText: () => void
}

/** Form of the tools as cards with name, description and parameters. */
export function ToolsForm({ text, onChange, onText }: ToolsFormProps) {
  const read = toolCards(text)
  const cards = read.kind === 'unreadable' ? [] : read.cards
  const { list, keys, append, movesOf, duplicate, remove } = useCards(text, cards.length, onChange)
  if (read.kind === 'unreadable') return <Unreadable why={read.why} onText={onText} />
  return (
    <div className="grid gap-2.5 p-3">
      {cards.length === 0 && (
        <p className="text-dim">
          {text.trim().startsWith('[')
            ? 'An empty list of tools: templates that test “tools is not none” announce tools, but list none.'
            : 'No tools: the template receives none, and many templates then write no system message.'}
        </p>
      )}
      <ol ref={list} aria-label="Tools" className="grid gap-2.5">
        {cards.map(({ name, description, parameters, holder }, at) => (
          <FormCard
            key={keys[at]}
            name={`tool ${at + 1}`}
            head={<span className="truncate font-medium font-mono text-[12px]">{name === '' ? 'no name' : name}</span>}
            onMove={movesOf(at)}
            onDuplicate={() => duplicate(at)}
            onDelete={() => remove(cards.length === 1 ? '' : withoutValue(text, [at]), at)}
          >
            <TextField
              label="name"
              className="font-mono text-[12px]"
              value={name}
              onChange={(event) =>
                onChange(withValue(text, [at, ...holder, 'name'], JSON.stringify(event.target.value)))
              }
            />
            <TextArea
              label="description"
              className="field-sizing-content max-h-72 min-h-8"
              rows={1}
              value={description}
              onChange={(event) =>
                onChange(withValue(text, [at, ...holder, 'description'], JSON.stringify(event.target.value)))
              }
            />
            {parameters.kind === 'text' ? null : (
              <JsonField
                label="parameters, JSON Schema"
                source={parameters.kind === 'json' ? parameters.source : ''}
                onChange={(source) => onChange(withValue(text, [at, ...holder, 'parameters'], source))}
              />
            )}
          </FormCard>
        ))}
      </ol>
      <Button className="justify-self-start" onClick={() => append(withTool(text, cards.length))}>
        <Plus size={14} aria-hidden /> Add a tool
      </Button>
    </div>
  )
}
