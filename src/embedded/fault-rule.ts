import type { FaultStatus } from '../contract/service-errors.ts';
import { CODE_OF_STATUS } from '../contract/service-errors.ts';
import { usageFailure } from '../errors/failure.ts';
import type { FaultEffect, FaultRule, FaultWhen } from '../service/http/faults.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import { durationMs, durationText } from '../text/duration.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', '*'];
const FORM =
  'METHOD PATH-GLOB; status=N|delay=D|reset-after=N|truncate=N|job=fail|job=partial_fail [; retry-after=N] [; times=N|every=N]';
const LONGEST_DELAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Parses a fault rule such as `GET /api/open/v3/voices; status=503`. Fault rules make the embedded service simulate
 * errors and delays.
 * @param source the name of the flag or option in error messages
 * @throws Failure of kind `usage` if the rule is invalid
 */
export function parseFaultRule(rule: string, source = '--fault'): FaultRule {
  const fail: Fail = (problem, hint) => {
    throw usageFailure(`${source} "${rule}": ${problem}`, hint ?? `A rule is ${FORM}.`);
  };
  const [target = '', ...parts] = rule.split(';').map((part) => part.trim());
  const fields = fieldsOf(parts, fail);
  const effect = effectOf(fields, fail);
  const when = whenOf(fields, fail);
  const { method, path } = targetOf(target, fail);
  if (effect.kind === 'job' && !['POST', '*'].includes(method)) {
    fail(`job requires POST, which creates jobs; the method is ${method}`);
  }
  return { method, path, effect, when };
}

/** Formats a fault rule as `--fault` accepts it, such as `GET /api/open/v3/voices; status=503`. */
export function printFaultRule({ method, path, effect, when }: FaultRule): string {
  return [`${method} ${path}`, printFaultEffect(effect), ...printWhen(when)].join('; ');
}

/** Formats the effect of a fault rule, such as `status=503; retry-after=2`. */
export function printFaultEffect(effect: FaultEffect): string {
  switch (effect.kind) {
    case 'status': {
      const { retryAfter, status } = effect;
      return `status=${status}${retryAfter === undefined ? '' : `; retry-after=${retryAfter}`}`;
    }
    case 'delay':
      return `delay=${durationText(effect.ms)}`;
    case 'reset':
      return `reset-after=${effect.afterBytes}`;
    case 'truncate':
      return `truncate=${effect.afterBytes}`;
    case 'job':
      return `job=${effect.outcome}`;
  }
}

type Fail = (problem: string, hint?: string) => never;
type RuleFields = ReadonlyMap<string, string>;

const EFFECTS = ['status', 'delay', 'reset-after', 'truncate', 'job'];
const NAMES = [...EFFECTS, 'retry-after', 'times', 'every'];

function targetOf(target: string, fail: Fail) {
  const [given = '', path, ...more] = target.split(/\s+/);
  const method = given.toUpperCase();
  if (!METHODS.includes(method)) {
    fail(`the method is "${given}"; it takes ${METHODS.join(', ')}`);
  }
  if (path === undefined || more.length > 0) fail('the method must be followed by one path');
  if (!path.startsWith('/')) fail(`the path is "${path}"; it must begin with /; /** is every path`);
  if (/\?.*=|#/.test(path)) fail('the path has a query; only paths are compared');
  return { method, path };
}

function fieldsOf(parts: readonly string[], fail: Fail): RuleFields {
  const fields = new Map<string, string>();
  for (const part of parts) {
    const [, name = part, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(part) ?? [];
    if (!NAMES.includes(name)) {
      fail(`unknown field "${name}"; it takes ${NAMES.join(', ')}`, nearestHint(name, NAMES));
    }
    if (value === undefined) fail(`${name} has no value; write ${name}=…`);
    if (fields.has(name)) fail(`${name} is given twice`);
    fields.set(name, value);
  }
  return fields;
}

function effectOf(fields: RuleFields, fail: Fail): FaultEffect {
  const given = EFFECTS.filter((name) => fields.has(name));
  const [kind, other] = given;
  if (kind === undefined) fail(`it has no effect; add one of ${EFFECTS.join(', ')}`);
  if (other !== undefined) {
    fail(`it has both ${kind} and ${other}`, 'Use a separate rule for each.');
  }
  const value = fields.get(kind) ?? '';
  const retryAfter = fields.get('retry-after');
  if (kind !== 'status' && retryAfter !== undefined) {
    fail(`retry-after requires status; the effect is ${kind}`);
  }
  switch (kind) {
    case 'status': {
      const status = statusOf(value, fail);
      if (retryAfter === undefined) return { kind, status };
      return { kind, status, retryAfter: wholeNumber('retry-after', retryAfter, 0, fail) };
    }
    case 'delay':
      return { kind, ms: delayOf(value, fail) };
    case 'job':
      return { kind, outcome: outcomeOf(value, fail) };
    default: {
      const afterBytes = wholeNumber(kind, value, 0, fail);
      return { kind: kind === 'truncate' ? kind : 'reset', afterBytes };
    }
  }
}

function statusOf(value: string, fail: Fail): FaultStatus {
  const statuses = Object.keys(CODE_OF_STATUS).map(Number).filter(isFaultStatus);
  return (
    statuses.find((status) => String(status) === value) ??
    fail(`status is "${value}"; it takes ${statuses.join(', ')}`)
  );
}

function isFaultStatus(status: number): status is FaultStatus {
  return Object.hasOwn(CODE_OF_STATUS, status);
}

function delayOf(value: string, fail: Fail): number {
  const ms = durationMs(value);
  if (ms === undefined || ms > LONGEST_DELAY_MS) {
    fail(`delay is "${value}"; it takes a duration such as 500ms, 2s or 1m, at most 24h`);
  }
  return ms;
}

function outcomeOf(value: string, fail: Fail): 'fail' | 'partial_fail' {
  if (value === 'fail' || value === 'partial_fail') return value;
  return fail(`job is "${value}"; it takes fail, partial_fail`);
}

function whenOf(fields: RuleFields, fail: Fail): FaultWhen {
  const times = fields.get('times');
  const every = fields.get('every');
  if (times !== undefined && every !== undefined) fail('it has both times and every');
  if (times !== undefined) return { kind: 'first', times: wholeNumber('times', times, 1, fail) };
  if (every === undefined) return { kind: 'always' };
  return { kind: 'every', every: wholeNumber('every', every, 1, fail) };
}

function wholeNumber(name: string, value: string, from: number, fail: Fail): number {
  if (/^\d{1,9}$/.test(value) && Number(value) >= from) return Number(value);
  return fail(`${name} is "${value}"; it takes a whole number from ${from} to 999999999`);
}

function printWhen(when: FaultWhen): readonly string[] {
  switch (when.kind) {
    case 'always':
      return [];
    case 'first':
      return [`times=${when.times}`];
    case 'every':
      return [`every=${when.every}`];
  }
}
