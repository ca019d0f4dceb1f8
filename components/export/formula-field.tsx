import { SelectField } from '#components/ui/field.tsx'
import { ADVANTAGE_FORMULAS, type AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'

/** Names and definitions of the formulas of advantages. */
const FORMULA_TEXTS: Readonly<Record<AdvantageFormula, { readonly name: string; readonly explanation: string }>> = {
  'mean-std': {
    name: 'mean and std. deviation',
    explanation: '(reward − mean) / standard deviation, as GRPO computes it',
  },
  'mean-std-by-length': {
    name: 'mean and std. deviation, by length',
    explanation: '(reward − mean) / standard deviation / trained tokens of the sample',
  },
  mean: { name: 'mean', explanation: 'reward − mean, as Dr. GRPO computes it' },
  'mean-by-length': { name: 'mean, by length', explanation: '(reward − mean) / trained tokens of the sample' },
  'leave-one-out': { name: 'leave one out', explanation: 'reward − mean of the other samples, as RLOO computes it' },
  'leave-one-out-by-length': {
    name: 'leave one out, by length',
    explanation: '(reward − mean of the other samples) / trained tokens of the sample',
  },
}

interface FormulaFieldProps {
  readonly label?: string
  /** Undefined if no formula is chosen. */
  readonly formula: AdvantageFormula | undefined
  readonly onFormula: (formula: AdvantageFormula | undefined) => void
  /** The choice of no formula, in words. Omitted: a formula is always chosen. */
  readonly none?: string
}

/** Field that chooses the formula of the advantages. */
export function FormulaField({ label = 'Advantage', formula, onFormula, none }: FormulaFieldProps) {
  return (
    <SelectField
      label={label}
      explanation={formula && FORMULA_TEXTS[formula].explanation}
      value={formula ?? ''}
      onChange={({ target }) => onFormula(ADVANTAGE_FORMULAS.find((name) => name === target.value))}
    >
      {none !== undefined && <option value="">{none}</option>}
      {ADVANTAGE_FORMULAS.map((name) => (
        <option key={name} value={name}>
          {FORMULA_TEXTS[name].name}
        </option>
      ))}
    </SelectField>
  )
}
