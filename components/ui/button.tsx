import { type ButtonHTMLAttributes, type Ref, useState } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary`: the main action; `quiet`: without a frame. */
  readonly look?: 'primary' | 'plain' | 'quiet'
  readonly ref?: Ref<HTMLButtonElement>
}

const LOOKS = {
  primary: 'bg-ink text-ground border-ink hover:opacity-90',
  plain: 'bg-raised border-line hover:border-line-strong',
  quiet: 'border-transparent text-dim hover:text-ink hover:bg-panel',
} as const

/** A button in the style of the application; its `type` is `button` unless given. It keeps the focus when it becomes disabled. */
export function Button({ look = 'plain', className = '', ref, ...rest }: ButtonProps) {
  return (
    <button
      ref={ref}
      className={`inline-flex min-h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-2.5 font-medium disabled:cursor-not-allowed disabled:opacity-45 aria-disabled:cursor-not-allowed aria-disabled:opacity-45 ${LOOKS[look]} ${className}`}
      {...useStableFocus(rest)}
    />
  )
}

/**
 * Returns the props of a button that keeps the focus. A disabled element would lose it, so a button that is disabled while it has the focus,
 * such as by its own action, does nothing and is announced as disabled until the focus leaves it.
 */
export function useStableFocus(
  props: ButtonHTMLAttributes<HTMLButtonElement>,
): ButtonHTMLAttributes<HTMLButtonElement> {
  const { disabled = false, type = 'button', onClick, onFocus, onBlur } = props
  const [hasFocus, setHasFocus] = useState(false)
  const isKept = disabled && hasFocus
  return {
    ...props,
    type: isKept ? 'button' : type,
    disabled: disabled && !hasFocus,
    'aria-disabled': isKept || props['aria-disabled'],
    onClick: isKept ? undefined : onClick,
    onFocus: (event) => {
      setHasFocus(true)
      onFocus?.(event)
    },
    onBlur: (event) => {
      // When the window loses the focus, its active element stays the same.
      setHasFocus(document.activeElement === event.currentTarget)
      onBlur?.(event)
    },
  }
}
