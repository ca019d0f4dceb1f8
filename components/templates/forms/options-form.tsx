'use client'
import { Plus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { readJsonText } from '#lib/json/json-text.ts'
import { type TemplateOption, templateOptions, withOption } from '#lib/templates/document/template-options.ts'
import { JsonField } from '../editor/json-field.tsx'
import { Unreadable } from '../editor/unreadable.tsx'

interface OptionsFormProps {
  /** JSON object, or ''. */
  readonly text: string
  readonly template: string
  readonly onChange: (text: string) => void
  readonly onText: () => void
}

/** Form of the template options: the variables that the template reads, and any other name. */
export function OptionsForm({ text, template, onChange, onText }: OptionsFormProps) {
  const read = templateOptions(text, template)
  if (read.kind === 'unreadable') return <Unreadable why={read.why} onText={onText} />
  return (
    <div className="grid gap-4 p-3.5">
      <ul aria-label="Options" className="grid">
        {read.options.map((option) => (
          <li key={option.name} className="grid gap-1 border-line border-b py-2 first:pt-0">
            <OptionRow option={option} onChange={(source) => onChange(withOption(text, option.name, source))} />
          </li>
        ))}
      </ul>
      <NewOption
        taken={read.options.filter(({ source }) => source !== undefined).map(({ name }) => name)}
        onAdd={(name, source) => onChange(withOption(text, name, source))}
      />
    </div>
  )
}

interface OptionRowProps {
  readonly option: TemplateOption
  readonly onChange: (source: string | undefined) => void
}

function OptionRow({ option: { name, source, isRead, isSwitch }, onChange }: OptionRowProps) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-40 font-mono text-[12px] [overflow-wrap:anywhere]">
          {name}
          {!isRead && <span className="ml-2 font-sans text-faint text-xs">not used by this template</span>}
        </span>
        {isSwitch ? (
          <Segmented
            label={name}
            value={source ?? 'unset'}
            onChange={(value) => onChange(value === 'unset' ? undefined : value)}
            options={[
              { value: 'unset', text: 'not set' },
              { value: 'true', text: 'true' },
              { value: 'false', text: 'false' },
            ]}
          />
        ) : source === undefined ? (
          <Button look="quiet" aria-label={`Set ${name}`} onClick={() => onChange('""')}>
            <Plus size={14} aria-hidden /> Set
          </Button>
        ) : (
          <IconButton label={`Remove ${name}`} onClick={() => onChange(undefined)}>
            <X size={14} aria-hidden />
          </IconButton>
        )}
      </div>
      {!isSwitch && source !== undefined && <JsonField label={`${name}, JSON`} source={source} onChange={onChange} />}
    </>
  )
}

interface NewOptionProps {
  readonly taken: readonly string[]
  readonly onAdd: (name: string, source: string) => void
}

function NewOption({ taken, onAdd }: NewOptionProps) {
  const [name, setName] = useState('')
  const [source, setSource] = useState('true')
  const isTaken = taken.includes(name)
  const isReady = name.trim() !== '' && !isTaken && readJsonText(source).ok
  const add = (event: FormEvent) => {
    event.preventDefault()
    if (!isReady) return
    onAdd(name.trim(), source)
    setName('')
    setSource('true')
  }
  return (
    <form className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2" onSubmit={add}>
      <TextField
        label="Another option"
        className="font-mono text-[12px]"
        value={name}
        error={isTaken ? 'is already set' : undefined}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Value, JSON"
        className="font-mono text-[12px]"
        value={source}
        error={readJsonText(source).ok ? undefined : 'not JSON'}
        onChange={(event) => setSource(event.target.value)}
      />
      <Button type="submit" disabled={!isReady}>
        Add
      </Button>
    </form>
  )
}
