import type { ButtonHTMLAttributes, Ref } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary`: the main action; `quiet`: without a frame. */
  readonly look?: 'primary' | 'plain' | 'quiet'
  /** True while its action runs: the button does nothing, and keeps the focus, which a disabled one would lose. */
  readonly isBusy?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

const LOOKS = {
  primary: 'bg-ink text-ground border-ink hover:opacity-90',
  plain: 'bg-raised border-line hover:border-line-strong',
  quiet: 'border-transparent text-dim hover:text-ink hover:bg-panel',
} as const

/** A button in the style of the application; its `type` is `button` unless given. */
export function Button({
  look = 'plain',
  className = '',
  type = 'button',
  isBusy = false,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type={isBusy ? 'button' : type}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? undefined : onClick}
      className={`inline-flex min-h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-2.5 font-medium disabled:cursor-not-allowed disabled:opacity-45 aria-disabled:cursor-not-allowed aria-disabled:opacity-45 ${LOOKS[look]} ${className}`}
      {...rest}
    />
  )
}
