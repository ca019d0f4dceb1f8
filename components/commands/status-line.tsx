interface StatusLineProps {
  /** State of the page in a few words. */
  readonly text: string
  /** Message about the last action; '' if there is none. */
  readonly message: string
}

/** Line at the bottom of a page; a narrow window shows it only while it has a message. */
export function StatusLine({ text, message }: StatusLineProps) {
  return (
    <div
      className={`flex items-center justify-between gap-4 overflow-hidden border-line bg-panel print:hidden px-3.5 text-[11px] text-dim tabular-nums lg:h-6 lg:border-t ${message === '' ? 'max-lg:h-0' : 'max-lg:h-6 max-lg:border-t'}`}
    >
      <span className="whitespace-nowrap">{text}</span>
      <span role="status" className="min-w-0 truncate text-ink" title={message}>
        {message}
      </span>
    </div>
  )
}
