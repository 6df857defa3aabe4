import { company, people } from '../company/names.ts';
import type { Staff } from './members.ts';

/** What the people of the company set up for themselves and for others: lists they look at again and again, pipelines without keys, and a receiver of events. */
export async function addSettings(staff: Staff, receiver: string): Promise<void> {
  const [admin, analyst] = [staff.as('admin'), staff.as('analyst')];
  await analyst.call('createView', {
    body: { list: 'findings', name: 'Exploited and open', query: 'kev=true&status=open', sort: '-risk_score', scope: 'organization' },
  });
  await analyst.call('createView', {
    body: { list: 'findings', name: 'Storefront, critical and high', query: 'owner=Storefront&severity=critical,high&status=open' },
  });
  await analyst.call('createView', { body: { list: 'work_items', name: 'Blocked', query: 'status=blocked', scope: 'organization' } });
  await admin.call('createPipelineTrust', {
    body: {
      name: 'checkout on GitHub',
      issuer: 'https://token.actions.githubusercontent.com',
      conditions: { repository: ['meridian-parcel/checkout'], ref: ['refs/heads/main'] },
      role: 'analyst',
    },
  });
  await admin.call('createWebhook', {
    body: {
      url: `${receiver}/hooks/security`,
      event_types: ['work_item.*', 'package.*'],
      description: `Chat room of the security team of ${company.name}`,
    },
  });
}

/** What people say to each other about a work item and a finding. */
export async function discuss(staff: Staff, { workItem, finding }: { workItem: string; finding: string | undefined }): Promise<void> {
  const [analyst, second] = [staff.as('analyst'), staff.as('secondAnalyst')];
  await analyst.call('addWorkItemComment', {
    path: { id: workItem },
    body: { text: `${people.developer.name} has the changes on a branch. They go out with the next release.` },
  });
  await second.call('addWorkItemComment', { path: { id: workItem }, body: { text: 'Thanks. I look at the scan on Monday.' } });
  if (finding === undefined) return;
  await second.call('addFindingComment', { path: { id: finding }, body: { text: 'The partner network can reach this port since the migration in spring.' } });
  await analyst.call('addFindingComment', { path: { id: finding }, body: { text: 'Confirmed with the network team. I raised it with them.' } });
}
