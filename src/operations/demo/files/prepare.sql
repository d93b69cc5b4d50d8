create table if not exists orders_clean as select * from orders where 1 = 0;
