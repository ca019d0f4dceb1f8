import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { SamplingTexts } from '#lib/sampling/fields.ts'
import { BUILT_IN_PRESETS, type OwnPreset, samplingChanges } from '#lib/sampling/presets.ts'
import { Button } from '../../ui/button.tsx'
import { Heading } from '../../ui/facts.tsx'
import { TextField } from '../../ui/field.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { changeText } from './changes.tsx'

interface PresetListProps {
  readonly sampling: SamplingTexts
  readonly own: readonly OwnPreset[]
  readonly onOwn: (presets: readonly OwnPreset[]) => void
  readonly onApply: (sampling: Readonly<Partial<SamplingTexts>>) => void
}

/** Presets that come with Rollscope and the user's own, with the changes that each makes. */
export function PresetList({ sampling, own, onOwn, onApply }: PresetListProps) {
  const [name, setName] = useState('')
  const without = (gone: string) => own.filter((preset) => preset.name !== gone)
  const isThere = own.some((preset) => preset.name === name.trim())
  const save = () => {
    onOwn([...without(name.trim()), { name: name.trim(), sampling }])
    setName('')
  }
  return (
    <div className="grid gap-4">
      <section aria-label="Presets">
        <ul className="grid gap-3">
          {BUILT_IN_PRESETS.map((preset) => (
            <PresetRow key={preset.name} {...preset} now={sampling} onApply={() => onApply(preset.sampling)} />
          ))}
        </ul>
      </section>
      <section aria-label="Your presets">
        <Heading>Yours</Heading>
        {own.length === 0 && (
          <p className="text-faint text-xs">
            None yet. Presets are stored in this browser and included in settings files.
          </p>
        )}
        <ul className="grid gap-3">
          {own.map((preset) => (
            <PresetRow
              key={preset.name}
              name={preset.name}
              note={undefined}
              sampling={preset.sampling}
              now={sampling}
              onApply={() => onApply(preset.sampling)}
              onDelete={() => onOwn(without(preset.name))}
            />
          ))}
        </ul>
      </section>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '') save()
        }}
      >
        <div className="min-w-0 flex-1">
          <TextField
            label="Save current settings as"
            maxLength={80}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </div>
        <Button type="submit" disabled={name.trim() === ''}>
          {isThere ? 'Replace' : 'Save'}
        </Button>
      </form>
    </div>
  )
}

interface PresetRowProps {
  readonly name: string
  readonly note: string | undefined
  readonly sampling: Readonly<Partial<SamplingTexts>>
  /** Current settings. */
  readonly now: SamplingTexts
  readonly onApply: () => void
  readonly onDelete?: () => void
}

function PresetRow({ name, note, sampling, now, onApply, onDelete }: PresetRowProps) {
  const changes = samplingChanges(now, sampling)
  return (
    <li data-preset={name} className="flex items-start gap-3">
      <div className="min-w-0 flex-1 text-xs">
        <p className="font-medium text-sm [overflow-wrap:anywhere]">{name}</p>
        {note !== undefined && <p className="text-dim">{note}</p>}
        <p className="text-faint [overflow-wrap:anywhere]">
          {changes.length === 0 ? 'Same as the current settings.' : changes.map(changeText).join(' · ')}
        </p>
      </div>
      <Button disabled={changes.length === 0} aria-label={`Apply ${name}`} onClick={onApply}>
        Apply
      </Button>
      {onDelete && (
        <IconButton label={`Delete ${name}`} onClick={onDelete}>
          <Trash2 size={14} aria-hidden />
        </IconButton>
      )}
    </li>
  )
}
