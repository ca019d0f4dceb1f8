/** Implements datetime.strftime as glibc does in English, for a local time without a time zone. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/**
 * Formats a time. `%-d`, `%_H`, `%^a` and widths are extensions of glibc; an unknown directive remains unchanged. Returns '' if the result
 * is too long.
 */
export function strftime(date: Date, format: string): string {
  const most = longest(format)
  const text = replaceDirectives(date, format, most)
  return text.length < most ? text : ''
}

/** Returns the length at which CPython gives up and returns an empty text, because the result is far longer than the format. */
function longest(format: string): number {
  let size = 1024
  while (size < 256 * format.length) size *= 2
  return size
}

function replaceDirectives(date: Date, format: string, most: number): string {
  return format.replace(DIRECTIVE, (directive, flags: string, width: string, letter: string) => {
    const part = partOf(date, letter)
    return part === undefined ? directive : padPart(part, flags, Math.min(most, Number(width)))
  })
}

const DIRECTIVE = /%([-_0^#]*)(\d*)[EO]?([a-zA-Z%+])/g

/** The text of one directive. A number is padded to `size` characters with `pad`. */
interface Part {
  readonly text: string
  readonly size: number
  readonly pad: ' ' | '0'
  /** How `^` and `#` change its letters: both leave %P, and `#` leaves directives that consist of several. */
  readonly letters: 'name' | 'half' | 'fixed' | 'several'
}

function padPart({ text, size, pad, letters }: Part, flags: string, width: number): string {
  const cased = flags.includes('#')
    ? swapLetters(text, letters)
    : flags.includes('^')
      ? upperCaseOf(text, letters)
      : text
  if (flags.includes('-')) return cased.padStart(width, ' ')
  const fill = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : pad
  return cased.padStart(Math.max(size, width), fill)
}

const upperCaseOf = (text: string, letters: Part['letters']): string =>
  letters === 'fixed' ? text : text.toUpperCase()

/** Applies `#`: AM changes to lower case, names change to upper case. */
function swapLetters(text: string, letters: Part['letters']): string {
  if (letters === 'half') return text.toLowerCase()
  return letters === 'name' ? text.toUpperCase() : text
}

const number = (value: number, size: number, pad: ' ' | '0' = '0'): Part => ({
  text: String(value),
  size,
  pad,
  letters: 'fixed',
})
const words = (text: string, letters: Part['letters'] = 'name'): Part => ({ text, size: 0, pad: ' ', letters })

function partOf(date: Date, letter: string): Part | undefined {
  const hour12 = date.getHours() % 12 || 12
  const whole = (format: string): Part => words(strftime(date, format), 'several')
  switch (letter) {
    case 'a':
      return words((DAYS[date.getDay()] ?? '').slice(0, 3))
    case 'A':
      return words(DAYS[date.getDay()] ?? '')
    case 'b':
    case 'h':
      return words((MONTHS[date.getMonth()] ?? '').slice(0, 3))
    case 'B':
      return words(MONTHS[date.getMonth()] ?? '')
    case 'c':
      return whole('%a %b %e %H:%M:%S %Y')
    case 'C':
      return number(Math.floor(date.getFullYear() / 100), 2)
    case 'd':
      return number(date.getDate(), 2)
    case 'D':
    case 'x':
      return whole('%m/%d/%y')
    case 'e':
      return number(date.getDate(), 2, ' ')
    case 'f':
      return number(date.getMilliseconds() * 1000, 6)
    case 'F':
      return whole('%Y-%m-%d')
    case 'g':
      return number(isoWeek(date).year % 100, 2)
    case 'G':
      return number(isoWeek(date).year, 1)
    case 'H':
      return number(date.getHours(), 2)
    case 'I':
      return number(hour12, 2)
    case 'j':
      return number(dayOfYear(date) + 1, 3)
    case 'k':
      return number(date.getHours(), 2, ' ')
    case 'l':
      return number(hour12, 2, ' ')
    case 'm':
      return number(date.getMonth() + 1, 2)
    case 'M':
      return number(date.getMinutes(), 2)
    case 'n':
      return words('\n')
    case 'p':
      return words(date.getHours() < 12 ? 'AM' : 'PM', 'half')
    case 'P':
      return words(date.getHours() < 12 ? 'am' : 'pm', 'fixed')
    case 'r':
      return whole('%I:%M:%S %p')
    case 'R':
      return whole('%H:%M')
    case 's':
      return number(Math.floor(date.getTime() / 1000), 1)
    case 'S':
      return number(date.getSeconds(), 2)
    case 't':
      return words('\t')
    case 'T':
    case 'X':
      return whole('%H:%M:%S')
    case 'u':
      return number(date.getDay() || 7, 1)
    case 'U':
      return number(weekOfYear(date, date.getDay()), 2)
    case 'V':
      return number(isoWeek(date).week, 2)
    case 'w':
      return number(date.getDay(), 1)
    case 'W':
      return number(weekOfYear(date, (date.getDay() + 6) % 7), 2)
    case 'y':
      return number(date.getFullYear() % 100, 2)
    case 'Y':
      return number(date.getFullYear(), 1)
    case 'z':
    case 'Z':
      return words('')
    case '%':
      return words('%')
    default:
      return undefined
  }
}

/** Returns the day of the year, from 0. */
const dayOfYear = (date: Date): number =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 1)) / DAY_MS,
  )

const DAY_MS = 86_400_000

/** Returns the week of the year. Weeks begin on the day whose `weekday` is 0; days before the first such day are in week 0. */
const weekOfYear = (date: Date, weekday: number): number => Math.floor((dayOfYear(date) + 7 - weekday) / 7)

/** Returns year and week of ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek(date: Date): { readonly year: number; readonly week: number } {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3 - ((date.getDay() + 6) % 7))
  return { year: thursday.getFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 }
}
