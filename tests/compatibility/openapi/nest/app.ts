// A warehouse on Nest, described by @nestjs/swagger and checked by class-validator.

import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  NotFoundException,
  Param,
  ParseUUIDPipe,
  Patch,
  Post,
  Put,
  Query,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ApiBearerAuth,
  ApiHeader,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  DocumentBuilder,
  PartialType,
  SwaggerModule,
} from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsDateString,
  IsDecimal,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsPositive,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

enum Unit {
  Piece = 'piece',
  Kilo = 'kg',
}

class Supplier {
  @ApiProperty({ minLength: 2, maxLength: 40 }) @Length(2, 40) name: string;
  @ApiProperty({ format: 'email' }) @IsEmail() email: string;
}

class CreateItem {
  @ApiProperty({ pattern: '^[A-Z]{2}-[0-9]{6}$' }) @Matches(/^[A-Z]{2}-[0-9]{6}$/) sku: string;
  @ApiProperty({ enum: Unit, enumName: 'Unit' }) @IsEnum(Unit) unit: Unit;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000 })
  @IsInt()
  @Min(0)
  @Max(10_000)
  stock: number;
  @ApiProperty({ type: 'string', format: 'decimal' }) @IsDecimal() price: string;
  @ApiProperty({ type: 'string', format: 'date-time' }) @IsISO8601() arrives: string;
  @ApiProperty({ type: [Supplier], minItems: 1 })
  @IsArray()
  @ArrayMinSize(1)
  @ValidateNested({ each: true })
  @Type(() => Supplier)
  suppliers: Supplier[];
  @ApiPropertyOptional({ type: String, nullable: true }) @IsOptional() @IsString() note?:
    string | null;
}

class UpdateItem extends PartialType(CreateItem) {}

class Item extends CreateItem {
  @ApiProperty({ format: 'uuid', readOnly: true }) id: string;
}

class Filters {
  @ApiPropertyOptional({ enum: Unit, isArray: true })
  @IsOptional()
  @Transform(({ value }) => [value].flat())
  @IsEnum(Unit, { each: true })
  unit?: Unit[];
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100 })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  take: number;
  @ApiProperty({ format: 'date' }) @IsDateString() since: string;
  @ApiPropertyOptional({ type: 'number', exclusiveMinimum: true, minimum: 0 })
  @IsOptional()
  @Type(() => Number)
  @IsPositive()
  below?: number;
}

class Move {
  @ApiProperty({ type: 'integer', minimum: 1 }) @IsInt() @Min(1) count: number;
  @ApiProperty({ enum: ['in', 'out'] }) @IsIn(['in', 'out']) direction: 'in' | 'out';
  @ApiProperty({ pattern: '^R[0-9]{2}/S[0-9]{2}$' }) @Matches(/^R\d\d\/S\d\d$/) to: string;
}

const items = new Map<string, Item>();
const add = (it: CreateItem): Item => {
  const item = { ...it, id: randomUUID() };
  items.set(item.id, item);
  return item;
};
const suppliers = [{ name: 'Nordwind', email: 'order@example.com' }];
for (const stock of [3, 5, 8]) {
  add({
    sku: `AB-00000${stock}`,
    unit: Unit.Piece,
    stock,
    price: '2.50',
    arrives: '2026-01-01T00:00:00Z',
    suppliers,
  });
}
const found = (id: string): Item => {
  if (!items.has(id)) throw new NotFoundException();
  return items.get(id);
};

@Controller('items')
class ItemsController {
  @Get()
  @ApiResponse({ status: 200, type: [Item] })
  findAll(@Query() filters: Filters) {
    return [...items.values()].slice(0, filters.take);
  }
  @Get(':id')
  @ApiResponse({ status: 200, type: Item })
  findOne(@Param('id', ParseUUIDPipe) id: string) {
    return found(id);
  }
  @Post()
  @ApiResponse({ status: 201, type: Item })
  create(@Body() it: CreateItem) {
    return add(it);
  }
  @Put(':id')
  @ApiResponse({ status: 200, type: Item })
  replace(@Param('id', ParseUUIDPipe) id: string, @Body() it: CreateItem) {
    return Object.assign(found(id), it);
  }
  @Patch(':id')
  @ApiResponse({ status: 200, type: Item })
  update(@Param('id', ParseUUIDPipe) id: string, @Body() it: UpdateItem) {
    return Object.assign(found(id), it);
  }
  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id', ParseUUIDPipe) id: string) {
    items.delete(found(id).id);
  }
  @Post(':id/moves')
  move(@Param('id', ParseUUIDPipe) id: string, @Body() it: Move) {
    return { ...it, stock: found(id).stock + it.count };
  }
}

@Controller()
class OthersController {
  @Get('racks/:row')
  @ApiHeader({ name: 'X-Site', required: true, schema: { type: 'string', pattern: '^[a-z]{3}$' } })
  rack(@Param('row') row: string, @Headers('x-site') site: string) {
    if (!/^[a-z]{3}$/.test(site)) throw new NotFoundException();
    return { row, site };
  }
  @Get('me')
  @ApiBearerAuth()
  me(@Headers('authorization') token: string) {
    return { token: token.length };
  }
}

@Module({ controllers: [ItemsController, OthersController] })
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
  const config = new DocumentBuilder()
    .setTitle('Warehouse')
    .setVersion('1')
    .addBearerAuth()
    .build();
  SwaggerModule.setup('api', app, () => SwaggerModule.createDocument(app, config));
  await app.listen(Number(process.env.PORT), '127.0.0.1');
}

main();
