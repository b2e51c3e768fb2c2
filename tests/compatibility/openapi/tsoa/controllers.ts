// Tickets on tsoa, which makes the document and the checks of the types.

import {
  Body,
  Controller,
  Delete,
  FormField,
  Get,
  Header,
  Patch,
  Path,
  Post,
  Put,
  Query,
  Response,
  Route,
  SuccessResponse,
} from 'tsoa';

/** @pattern ^[A-Z]{3}-\d{1,5}$ */
type Code = string;

type Priority = 'low' | 'normal' | 'high';

interface Reporter {
  /** @minLength 2 */
  name: string;
  /** @pattern ^\+\d{6,15}$ */
  phone: string | null;
}

interface NewTicket {
  code: Code;
  /** @minLength 5
   *  @maxLength 80 */
  title: string;
  priority: Priority;
  /** @isInt
   *  @minimum 0
   *  @maximum 100 */
  estimate: number;
  due?: Date;
  reporter: Reporter;
  /** @minItems 1
   *  @uniqueItems */
  labels: string[];
  links?: Record<string, Code>;
  source: { mail: string } | { /** @isInt */ chat: number };
}

interface Ticket extends NewTicket {
  id: number;
}

class Missing extends Error {
  status = 404;
}

const tickets = new Map<number, Ticket>();
let last = 0;
const add = (it: NewTicket): Ticket => {
  last += 1;
  tickets.set(last, { id: last, ...it });
  return tickets.get(last);
};
for (const code of ['ABC-1', 'ABC-2', 'ABC-3', 'ABC-4']) {
  const reporter = { name: 'Anna', phone: null };
  add({
    code,
    title: 'A title',
    priority: 'low',
    estimate: 3,
    reporter,
    labels: ['a'],
    source: { chat: 1 },
  });
}
const found = (id: number): Ticket => {
  if (!tickets.has(id)) throw new Missing('no such ticket');
  return tickets.get(id);
};

@Route('tickets')
export class TicketsController extends Controller {
  /** @isInt limit
   *  @minimum limit 1
   *  @maximum limit 50
   *  @isDate since */
  @Get()
  list(@Query() priority?: Priority[], @Query() limit = 10, @Query() since?: Date): Ticket[] {
    return [...tickets.values()].slice(0, limit);
  }

  /** @isInt id */
  @Response(404)
  @Get('{id}')
  one(@Path() id: number): Ticket {
    return found(id);
  }

  @SuccessResponse(201)
  @Post()
  create(@Body() ticket: NewTicket): Ticket {
    this.setStatus(201);
    return add(ticket);
  }

  /** @isInt id */
  @Put('{id}')
  replace(@Path() id: number, @Body() ticket: NewTicket): Ticket {
    return Object.assign(found(id), ticket);
  }

  /** @isInt id */
  @Patch('{id}')
  change(@Path() id: number, @Body() change: Partial<NewTicket>): Ticket {
    return Object.assign(found(id), change);
  }

  /** @isInt id */
  @SuccessResponse(204)
  @Delete('{id}')
  remove(@Path() id: number): void {
    tickets.delete(found(id).id);
  }

  /** @isInt id
   *  @isInt minutes
   *  @minimum minutes 5 */
  @Post('{id}/times')
  log(
    @Path() id: number,
    @FormField() minutes: number,
    @FormField() kind: 'work' | 'travel',
  ): number {
    return found(id).estimate + minutes;
  }

  /** @isDate day */
  @Get('due/{day}')
  due(@Path() day: Date, @Header('x-zone') zone: 'UTC' | 'CET'): { zone: string } {
    return { zone };
  }

  @Get('codes/{code}')
  code(@Path() code: Code, @Query() exact: boolean): { code: string } {
    return { code };
  }
}
