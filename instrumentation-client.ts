/** Runs in the browser before any other module of the application. */
import * as z from 'zod/mini'

// Zod tries whether it may compile its checks with eval; the content security policy says no, and reports the attempt.
z.config({ jitless: true })
