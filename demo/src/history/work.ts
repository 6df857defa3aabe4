import type { Client, Operations } from '@rrs/client';
import { people } from '../company/names.ts';
import type { World } from '../company/world.ts';
import type { Staff } from './members.ts';
import { discuss } from './settings.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

type Filter = NonNullable<Operations['listFindings']['query']>;

async function idsOf(client: Client, query: Filter, limit: number): Promise<string[]> {
  const { data } = await client.call('listFindings', { query: { status: ['open'], sort: '-risk_score', ...query, limit } });
  return data.map(({ id }) => id);
}

export interface Fixes {
  /** Work items that a later scan verifies. */
  verified: string[];
  /** The work item that ends with exceptions. */
  excepted: string;
}

/** Early in the history: the analyst plans the work and decides on findings. */
export async function planWork(staff: Staff, { images, catalogue, hosts, websites, repositories }: World, jira: string): Promise<Fixes> {
  const [analyst, second] = [staff.as('analyst'), staff.as('secondAnalyst')];
  const verified: string[] = [];
  for (const image of images.slice(0, 3)) {
    const library = catalogue.libraries[image.language][0];
    if (!library) continue;
    const { id } = await analyst.call('createWorkItem', {
      body: {
        title: `Update ${library.name} in ${image.name} to ${library.fixed}`,
        description: `${image.name} uses ${library.name} ${library.version}, which has known vulnerabilities.`,
        filter: { asset: image.repository, component: library.name },
        assignee: people.developer.email,
        priority: 'critical',
        due_at: inDays(30),
      },
    });
    verified.push(id);
  }
  const [accepted = [], wrong = []] = [
    await idsOf(analyst, { asset: hosts[0]?.name ?? '', severity: ['low', 'medium'] }, 3),
    await idsOf(analyst, { asset: websites[0]?.url ?? '' }, 2),
  ];
  const { id: excepted } = await analyst.call('createWorkItem', {
    body: { title: `Decide what remains on ${hosts[0]?.name}`, finding_ids: [...accepted, ...wrong], assignee: people.analyst.email, priority: 'medium' },
  });
  const acceptance = {
    status: 'risk_accepted',
    owner: people.owner.name,
    expires_at: inDays(180),
    reason: 'The service is replaced in spring, and the vendor no longer updates it.',
    compensating_control: 'The firewall lets only the management network reach the service.',
  } as const;
  await analyst.call('changeFindings', { body: { ids: accepted, change: acceptance } });
  await second.call('changeFindings', { body: { ids: accepted, change: { acceptance: 'approve', reason: 'Compensating controls reviewed.' } } });
  await analyst.call('changeFindings', {
    body: {
      ids: wrong,
      change: {
        status: 'false_positive',
        scope: 'finding',
        justification: 'protected_at_perimeter',
        reason: 'The header is set by the content delivery network, which the scan bypassed.',
      },
    },
  });

  const rejected = await idsOf(analyst, { asset: hosts[0]?.name ?? '', severity: ['critical', 'high'] }, 1);
  await analyst.call('changeFindings', { body: { ids: rejected, change: { ...acceptance, reason: 'An update needs a maintenance window.' } } });
  await second.call('changeFindings', {
    body: { ids: rejected, change: { acceptance: 'reject', reason: 'A critical vulnerability on this server must be fixed within the deadline.' } },
  });
  const tests = repositories[0]?.language === 'typescript' ? 'test' : 'tests';
  await analyst.call('changeFindings', {
    body: {
      filter: { asset: repositories[0]?.address ?? '', path: tests },
      change: { status: 'false_positive', justification: 'code_not_reachable', reason: 'Test code is not delivered.' },
    },
  });

  const [server] = hosts;
  const started = await analyst.call('createWorkItem', {
    body: {
      title: `Patch ${server?.name}`,
      finding_ids: await idsOf(analyst, { asset: server?.name ?? '', severity: ['critical', 'high'] }, 40),
      assignee: people.admin.email,
      priority: 'high',
      due_at: inDays(45),
    },
  });
  await analyst.call('updateWorkItem', { path: { id: started.id }, body: { status: 'in_progress' } });
  const blocked = await analyst.call('createWorkItem', {
    body: {
      title: `Replace the base image of ${images.at(-1)?.name}`,
      filter: { asset: images.at(-1)?.repository ?? '', severity: ['critical', 'high'], status: ['open'] },
      assignee: people.developer.email,
      priority: 'high',
    },
  });
  await analyst.call('updateWorkItem', { path: { id: blocked.id }, body: { status: 'blocked', reason: 'Waits for the new base image of the Platform team.' } });
  for (const { id } of [started, blocked]) await analyst.call('pushTicket', { path: { id }, body: { connection_id: jira } });
  const cancelled = await analyst.call('createWorkItem', {
    body: { title: 'Rotate all keys at once', filter: { asset: repositories[0]?.address ?? '', source: ['gitleaks'] } },
  });
  await analyst.call('updateWorkItem', { path: { id: cancelled.id }, body: { status: 'cancelled', reason: 'Each team rotates its own keys.' } });
  return { verified, excepted };
}

/** When scans have verified the fixes: somebody else approves them, and the packages are sealed. */
export async function proveWork(staff: Staff, { verified, excepted }: Fixes): Promise<void> {
  const analyst = staff.as('analyst');
  for (const [n, id] of [...verified, excepted].entries()) {
    await analyst.call('addArtifact', {
      path: { work_item_id: id },
      body: {
        type: 'pull_request',
        title: `Pull request ${1204 + n}`,
        url: `https://github.com/meridian-parcel/checkout/pull/${1204 + n}`,
        occurred_at: inDays(-4),
      },
    });
    // Nobody approves what they decided themselves.
    const approver = staff.as(id === excepted ? 'owner' : 'secondAnalyst');
    const { state_digest } = await approver.call('getWorkItemState', { path: { id } });
    await approver.call('decideOnWorkItem', { path: { id }, body: { decision: 'approved', state_digest, comment: 'Reviewed with the team.' } });
    const sealed = await analyst.call('createEvidencePackage', { body: { work_item_id: id, note: 'For the annual audit' }, header: { Prefer: 'wait=60' } });
    if (!('package_id' in sealed) || sealed.status !== 'ready') throw new Error(`the package of work item ${id} was not sealed`);
    if (n === 0)
      await analyst.call('createShareLink', {
        path: { package_id: sealed.package_id },
        body: { recipient: `${people.auditor.name}, auditor`, expires_in_hours: 2000 },
      });
  }
}

/** In the last week: what is still going on. */
export async function leaveWorkOpen(staff: Staff, { repositories, hosts, weeks }: World): Promise<void> {
  const [analyst, second] = [staff.as('analyst'), staff.as('secondAnalyst')];
  await analyst.call('createWorkItem', {
    body: { title: 'Known exploited vulnerabilities', filter: { kev: true, status: ['open'] }, priority: 'critical', due_at: inDays(10) },
  });
  const repository = repositories.at(-1);
  const claimed = await idsOf(analyst, { asset: repository?.address ?? '', source: ['semgrep'], severity: ['high'] }, 6);
  const { id: workItem } = await analyst.call('createWorkItem', {
    body: { title: `Fix the reported code of ${repository?.name}`, finding_ids: claimed, assignee: people.developer.email, priority: 'high' },
  });
  await second.call('changeFindings', {
    body: { ids: claimed, change: { status: 'remediated', reason: `Fixed on main in week ${weeks}. The next scan will show it.` } },
  });
  const pending = await idsOf(analyst, { asset: hosts.at(-1)?.name ?? '', severity: ['medium'] }, 4);
  await analyst.call('changeFindings', {
    body: {
      ids: pending,
      change: { status: 'risk_accepted', owner: people.owner.name, expires_at: inDays(90), reason: 'The kiosk network is replaced in the next quarter.' },
    },
  });
  const [disputed] = await idsOf(second, { severity: ['medium'], asset_type: ['host'] }, 1);
  if (disputed)
    await second.call('updateFinding', {
      path: { id: disputed },
      body: { severity: 'high', reason: 'Reachable from partner networks.', tags: ['partner-network'] },
    });
  await discuss(staff, { workItem, finding: disputed });
}
