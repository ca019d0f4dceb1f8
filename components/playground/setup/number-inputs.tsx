import { TextField } from '#components/ui/field.tsx'
import { allowedValues } from '#lib/sampling/allowed-values.ts'
import { type SamplingName, samplingParameter } from '#lib/sampling/parameters.ts'
import { type LimitField, RANGES, type Setup } from '#lib/share/settings/setup.ts'
import type { FieldErrors } from '#lib/share/settings/setup-request.ts'

/** Props of inputs that edit numbers of the setup. */
export interface NumberInputs {
  readonly setup: Setup
  readonly onChange: (setup: Setup) => void
  readonly errors: FieldErrors
}

/** Field of one sampling parameter. */
export function SamplingInput({ name, setup, onChange, errors }: NumberInputs & { readonly name: SamplingName }) {
  const { default: standard } = samplingParameter(name)
  return (
    <TextField
      label={name}
      explanation={`${allowedValues(name)}${standard === null ? '' : `; SGLang’s default ${standard}`}`}
      inputMode="decimal"
      value={setup.sampling[name]}
      error={errors[name]}
      onChange={(event) => onChange({ ...setup, sampling: { ...setup.sampling, [name]: event.target.value } })}
    />
  )
}

/** Field of one limit of the agent loop. */
export function LimitInput({
  name,
  placeholder = 'no limit',
  setup,
  onChange,
  errors,
}: NumberInputs & { readonly name: LimitField; readonly placeholder?: string }) {
  return (
    <TextField
      label={RANGES[name].label}
      explanation={RANGES[name].explanation}
      inputMode="numeric"
      value={setup.limits[name]}
      error={errors[name]}
      placeholder={placeholder}
      onChange={(event) => onChange({ ...setup, limits: { ...setup.limits, [name]: event.target.value } })}
    />
  )
}
