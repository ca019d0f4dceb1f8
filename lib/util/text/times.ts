/** Texts of times. */

/** Returns the time for today, a date without the year for this year, and a full date otherwise; — if `iso` is not a time. */
export function whenText(iso: string, now: Date): string {
  const when = new Date(iso)
  if (Number.isNaN(when.getTime())) return '—'
  if (when.toDateString() === now.toDateString())
    return new Intl.DateTimeFormat([], { timeStyle: 'short' }).format(when)
  const isThisYear = when.getFullYear() === now.getFullYear()
  return new Intl.DateTimeFormat([], {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
  }).format(when)
}

/** Returns the full date and time in the user's locale; the text unchanged if it is not a time. */
export const timeText = (iso: string): string => {
  const when = new Date(iso)
  return Number.isNaN(when.getTime()) ? iso : when.toLocaleString()
}
