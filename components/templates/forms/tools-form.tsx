'use client'
import { Plus } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { withoutValue, withSwapped, withValue } from '#lib/json/json-text.ts'
import { toolCards, withDuplicate, withTool } from '#lib/templates/document/message-form.ts'
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
  const { list, change } = useCards(onChange)
  const read = toolCards(text)
  if (read.kind === 'unreadable') return <Unreadable why={read.why} onText={onText} />
  const { cards } = read
  const swap = (at: number, to: number) =>
    to >= 0 && to < cards.length ? () => change(withSwapped(text, [], at, to), to) : undefined
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
            // biome-ignore lint/suspicious/noArrayIndexKey: the name changes while it is typed, so the index identifies a tool
            key={at}
            name={`tool ${at + 1}`}
            head={<span className="truncate font-medium font-mono text-[12px]">{name === '' ? 'no name' : name}</span>}
            onMove={{ up: swap(at, at - 1), down: swap(at, at + 1) }}
            onDuplicate={() => change(withDuplicate(text, at), at + 1)}
            onDelete={() => (cards.length === 1 ? change('') : change(withoutValue(text, [at]), Math.max(at - 1, 0)))}
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
      <Button className="justify-self-start" onClick={() => change(withTool(text, cards.length), cards.length)}>
        <Plus size={14} aria-hidden /> Add a tool
      </Button>
    </div>
  )
}
