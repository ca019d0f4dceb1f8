import type { ShownStatus } from '#components/shell/server-state.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { refusalText } from '#lib/sampling/refusal.ts'

interface AdapterFieldProps {
  /** Name of the adapter; '' is none. */
  readonly adapter: string
  readonly status: ShownStatus
  readonly onChange: (adapter: string) => void
}

const EXPLANATION = 'A LoRA adapter that the server has loaded. It samples and scores; none: the server’s default.'

/** The LoRA adapter: one of those that the server lists, or a name if the server lists none. */
export function AdapterField({ adapter, status, onChange }: AdapterFieldProps) {
  const { capabilities, adapters } = status.state === 'ready' ? status : {}
  const refusal = whyUnsupported('adapters', capabilities)
  const label = 'LoRA adapter'
  if (!adapters && !refusal)
    return (
      <TextField
        label={label}
        explanation={EXPLANATION}
        placeholder="none"
        value={adapter}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  const isMissing = adapter !== '' && !adapters?.includes(adapter)
  return (
    <div>
      <SelectField
        label={label}
        explanation={EXPLANATION}
        value={adapter}
        disabled={refusal !== undefined && adapter === ''}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">none</option>
        {adapters?.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        {isMissing && <option value={adapter}>{adapter} (missing)</option>}
      </SelectField>
      {refusal && <p className="mt-1 text-faint text-xs">{refusalText(refusal)}</p>}
    </div>
  )
}
