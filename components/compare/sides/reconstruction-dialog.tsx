'use client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { TokenizerFormEnd } from '#components/tokenizer/tokenizer-form-end.tsx'
import { useTokenizerCheck } from '#components/tokenizer/use-tokenizer-check.ts'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { Reconstruction, Side, TemplateChoice } from '#lib/analysis/compare/side.ts'
import { latestTrajectoriesOptions } from '#lib/browser/library/library.ts'
import { useSetup } from '#lib/browser/use-setup.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface ReconstructionDialogProps {
  readonly name: SideName
  /** A side that is made of text or messages. */
  readonly side: Side
  readonly trajectory: TrajectoryView | undefined
  readonly onSide: (side: Side) => void
  readonly onClose: () => void
}

type TemplateKind = 'own' | TemplateChoice['kind']

/** Dialog for the tokenizer and the template of a side. Both are checked before the side is made. */
export function ReconstructionDialog({ name, side, trajectory, onSide, onClose }: ReconstructionDialogProps) {
  const { key, as } = side
  const chosen = 'template' in as ? as.template : undefined
  const [tokenizer, setTokenizer] = useState('tokenizer' in as ? (as.tokenizer ?? '') : '')
  const [kind, setKind] = useState<TemplateKind>(chosen?.kind ?? 'own')
  const [templateOf, setTemplateOf] = useState(
    chosen?.kind === 'tokenizer' ? chosen.name : chosen?.kind === 'trajectory' ? chosen.key : '',
  )
  const [setup] = useSetup()
  const { state, downloads, suggested, check } = useTokenizerCheck(setup.server)
  const own = trajectory?.model.tokenizer
  const hasTemplate = as.kind === 'structured' || as.kind === 'raw'
  const isIncomplete = hasTemplate && (kind === 'tokenizer' || kind === 'trajectory') && templateOf.trim() === ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const template = hasTemplate ? templateChoice(kind, templateOf.trim()) : undefined
    const wanted = [tokenizer.trim(), template?.kind === 'tokenizer' ? template.name : '']
    void check(
      wanted.filter((one) => one !== ''),
      () => onSide({ key, as: asWith(as, tokenizer.trim(), template) }),
    )
  }
  return (
    <Dialog title={`Tokenizer and template of the ${name} side`} onClose={onClose}>
      <form className="grid gap-4" onSubmit={submit}>
        <div className="grid gap-2">
          <TextField
            label="Tokenizer: a name or folder under ROLLSCOPE_TOKENIZERS, a Hub name, or built-in"
            placeholder={own && own.source !== 'server' ? `its own: ${own.name}` : 'Qwen/Qwen3-8B'}
            value={tokenizer}
            onChange={(event) => setTokenizer(event.target.value)}
            data-first-focus
          />
          <div className="flex flex-wrap items-center gap-2">
            {own && own.source !== 'server' && (
              <Button onClick={() => setTokenizer('')} aria-pressed={tokenizer === ''}>
                its own
              </Button>
            )}
            {suggested.map((known) => (
              <Button key={known} onClick={() => setTokenizer(known)} aria-pressed={tokenizer === known}>
                {known}
              </Button>
            ))}
          </div>
        </div>
        {hasTemplate && (
          <div className="grid gap-2">
            <SelectField
              label="Chat template"
              value={kind}
              onChange={({ target }) => {
                setKind(target.value as TemplateKind)
                setTemplateOf('')
              }}
            >
              <option value="own">
                {tokenizer === '' ? 'the trajectory’s own' : 'the trajectory’s own, or else the tokenizer’s'}
              </option>
              <option value="tokenizer">of a tokenizer…</option>
              <option value="trajectory">of another trajectory…</option>
              <option value="lab">the template of the template lab</option>
            </SelectField>
            {kind === 'tokenizer' && (
              <TextField
                label="Tokenizer of the template"
                placeholder="Qwen/Qwen3-8B"
                value={templateOf}
                onChange={(event) => setTemplateOf(event.target.value)}
              />
            )}
            {kind === 'trajectory' && <OtherTrajectory value={templateOf} onChange={setTemplateOf} />}
          </div>
        )}
        <TokenizerFormEnd state={state} downloads={downloads} isIncomplete={isIncomplete}>
          Apply
        </TokenizerFormEnd>
      </form>
    </Dialog>
  )
}

const LATEST = 50

interface OtherTrajectoryProps {
  readonly value: string
  readonly onChange: (key: string) => void
}

function OtherTrajectory({ value, onChange }: OtherTrajectoryProps) {
  const { data } = useQuery(latestTrajectoriesOptions(LATEST))
  const isListed = data?.trajectories.some(({ key }) => key === value)
  return (
    <SelectField label="Trajectory of the template" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">choose one</option>
      {value !== '' && !isListed && <option value={value}>{value}</option>}
      {data?.trajectories.map((row) => (
        <option key={row.key} value={row.key}>
          {titleText(row)}
        </option>
      ))}
    </SelectField>
  )
}

function templateChoice(kind: TemplateKind, of: string): TemplateChoice | undefined {
  switch (kind) {
    case 'own':
      return undefined
    case 'lab':
      return { kind }
    case 'tokenizer':
      return { kind, name: of }
    case 'trajectory':
      return { kind, key: of }
  }
}

function asWith(as: Reconstruction, tokenizer: string, template: TemplateChoice | undefined): Reconstruction {
  const named = tokenizer === '' ? {} : { tokenizer }
  if (as.kind === 'text') return { kind: as.kind, ...named }
  if (as.kind === 'structured' || as.kind === 'raw') return { kind: as.kind, ...named, ...(template && { template }) }
  return as
}
