import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { visibleText } from './visible-text.ts'

const BOX =
  'w-full rounded-md border border-line bg-raised px-2 py-1.5 placeholder:text-faint enabled:hover:border-line-strong disabled:cursor-not-allowed disabled:bg-panel disabled:text-faint aria-invalid:border-bad'

interface FieldProps {
  readonly label: string
  /** Tooltip that explains the field. */
  readonly explanation?: string | undefined
  readonly error?: string | undefined
}

/** Shows a label above a control and an error below it. */
function Field({
  label,
  explanation,
  error,
  id,
  children,
}: FieldProps & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-dim text-xs" title={explanation}>
        {label}
      </label>
      {children}
      {error !== undefined && (
        <p id={`${id}-error`} className="mt-1 text-bad text-xs">
          {error}
        </p>
      )}
    </div>
  )
}

const describedBy = (id: string, error: string | undefined) =>
  error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `${id}-error` }

/** A text input with a label and an error. */
export function TextField({
  label,
  explanation,
  error,
  className = '',
  ...rest
}: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  return (
    <Field label={label} explanation={explanation} error={error} id={id}>
      <input
        id={id}
        className={`${BOX} ${className}`}
        autoComplete="off"
        spellCheck={false}
        title={explanation}
        {...describedBy(id, error)}
        {...rest}
      />
    </Field>
  )
}

/** A text area with a label and an error. */
export function TextArea({
  label,
  explanation,
  error,
  className = '',
  ...rest
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <Field label={label} explanation={explanation} error={error} id={id}>
      <textarea
        id={id}
        className={`${BOX} block resize-y ${className}`}
        title={explanation}
        {...describedBy(id, error)}
        {...rest}
      />
    </Field>
  )
}

const SELECTS = { plain: 'min-h-7 px-1.5', tall: 'min-h-8 px-2' } as const

interface SelectProps extends ComponentProps<'select'> {
  /** `tall`: as high as a button. */
  readonly look?: keyof typeof SELECTS
}

/** A select in a line of controls. Its name is an `aria-label` or another element; `data-set` marks a value that is not the default. */
export const Select = ({ look = 'plain', className = '', ...rest }: SelectProps) => (
  <select
    className={`${SELECTS[look]} min-w-0 rounded-md border border-line bg-raised hover:border-line-strong data-set:border-accent data-set:font-medium ${className}`}
    {...rest}
  />
)

/** A select with a label and an error. */
export function SelectField({
  label,
  explanation,
  error,
  children,
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  return (
    <Field label={label} explanation={explanation} error={error} id={id}>
      <select id={id} className={BOX} title={explanation} {...describedBy(id, error)} {...rest}>
        {children}
      </select>
    </Field>
  )
}

/** A checkbox with a label. The note describes the checkbox and is not part of its name. */
export function CheckField({
  label,
  note,
  ...rest
}: { readonly label: string; readonly note?: string | undefined } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <label className="flex min-h-7 items-baseline gap-2 py-1 has-disabled:text-faint">
      <input
        type="checkbox"
        className="size-4 shrink-0 translate-y-0.5 accent-(--accent)"
        aria-labelledby={`${id}-label`}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        {...rest}
      />
      {/* The note of a long name is below it. */}
      <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
        <span id={`${id}-label`} className="wrap-break-word max-w-full">
          {visibleText(label)}
        </span>
        {note !== undefined && (
          <span id={`${id}-note`} className="wrap-anywhere flex-1 basis-16 text-faint text-xs">
            {visibleText(note)}
          </span>
        )}
      </span>
    </label>
  )
}
