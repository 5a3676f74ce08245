//! What columns have in common, and the macro that makes a table's columns and schema out of one list, so that they can't
//! disagree.

use std::sync::Arc;

use arrow::array::{ArrayBuilder, ArrayRef, BooleanBuilder, PrimitiveArray, PrimitiveBuilder};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Float64Type, Int32Type, Int64Type, Schema,
};

use super::Table;
use super::keyed::{DictionaryPage, Page};

/// Rows after which columns go to the writer: a divisor of the rows of a row group, and as many as Parquet's writer takes at once.
pub(crate) const BATCH_ROWS: usize = 16_384;

/// Distinct text after which columns go to the writer whatever the rows, so that long texts don't pile up.
const BATCH_TEXT_BYTES: usize = 4 << 20;

/// Rows of a column, on their way to the file.
#[derive(Debug)]
pub(crate) enum Batch {
    /// Values for Parquet's own writer.
    Values(ArrayRef),
    /// A page, whose keys the dictionary at the end of the row group explains.
    Page(Page),
}

impl Batch {
    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Values(array) => array.get_buffer_memory_size(),
            Self::Page(page) => page.bytes.len(),
        }
    }
}

/// A column under construction.
pub(super) trait Column: Default {
    const NULLABLE: bool;
    /// Whether its rows are pages of keys.
    const KEYED: bool = false;
    fn data_type() -> DataType;
    fn len(&self) -> usize;
    /// Bytes of distinct text held.
    fn text_bytes(&self) -> usize {
        0
    }
    /// Hands the rows over and starts anew.
    fn finish(&mut self) -> Batch;
    /// What the keys since the last row group mean; `None` for columns without keys.
    fn dictionary(&mut self) -> Option<DictionaryPage> {
        None
    }

    fn field(name: &str) -> Field {
        Field::new(name, Self::data_type(), Self::NULLABLE)
    }
}

/// The columns of a table under construction.
pub(crate) trait Columns: Default {
    /// The table.
    const TABLE: Table;
    /// Names and types of the columns, in order.
    fn schema() -> Schema;
    /// Which of them are pages of keys.
    fn keyed() -> Vec<bool>;
    /// Rows held.
    fn rows(&self) -> usize;
    /// Bytes of distinct text held.
    fn text_bytes(&self) -> usize;
    /// Hands the rows over, a column each, and starts anew.
    fn finish(&mut self) -> Vec<Batch>;
    /// Ends a row group: what the keys in it mean, column by column.
    fn dictionaries(&mut self) -> Vec<Option<DictionaryPage>>;

    /// Whether it is time to hand the rows over.
    #[inline]
    fn is_full(&self) -> bool {
        self.rows() >= BATCH_ROWS || self.text_bytes() >= BATCH_TEXT_BYTES
    }
}

/// Rows whose columns of context are those of the row before: counted, and added when others come.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    context: Option<u64>,
    rows: u32,
}

impl Repeats {
    /// Whether the context's columns of a new row are the last row's; then they are counted, and mustn't be pushed. Contexts with the
    /// same number are the same.
    #[inline]
    pub(super) fn count(&mut self, context: Option<u64>) -> bool {
        let same = context.is_some() && context == self.context;
        self.rows += u32::from(same);
        same
    }

    /// A context is pushed that has this number.
    #[inline]
    pub(super) fn begin(&mut self, context: Option<u64>) {
        self.context = context;
    }

    /// Rows counted and not yet added.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Those rows, to be added now.
    #[inline]
    pub(super) fn take(&mut self) -> u32 {
        std::mem::take(&mut self.rows)
    }
}

/// Declares the columns of a table, in the order of the file, and which of them a context fills: the first among them, or none.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident, $table:expr, of the context [$($of_context:ident),* $(,)?], {
        $first:ident: $first_kind:ty, $($column:ident: $kind:ty),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            $first: $first_kind,
            $($column: $kind,)*
            repeats: $crate::table::column::Repeats,
        }

        impl $name {
            /// Adds the rows that were only counted.
            #[inline]
            fn settle(&mut self) {
                let rows = self.repeats.take();
                if rows > 0 {
                    $(self.$of_context.repeat(rows);)*
                }
            }
        }

        impl $crate::table::column::Columns for $name {
            const TABLE: $crate::table::Table = $table;

            fn schema() -> arrow::datatypes::Schema {
                use $crate::table::column::Column;
                arrow::datatypes::Schema::new(vec![
                    <$first_kind as Column>::field(stringify!($first)),
                    $(<$kind as Column>::field(stringify!($column)),)*
                ])
            }

            fn keyed() -> Vec<bool> {
                use $crate::table::column::Column;
                vec![<$first_kind as Column>::KEYED, $(<$kind as Column>::KEYED,)*]
            }

            #[inline]
            fn rows(&self) -> usize {
                $crate::table::column::Column::len(&self.$first) + self.repeats.rows()
            }

            #[inline]
            fn text_bytes(&self) -> usize {
                use $crate::table::column::Column;
                self.$first.text_bytes() $(+ self.$column.text_bytes())*
            }

            fn finish(&mut self) -> Vec<$crate::table::column::Batch> {
                use $crate::table::column::Column;
                self.settle();
                vec![self.$first.finish(), $(self.$column.finish(),)*]
            }

            fn dictionaries(&mut self) -> Vec<Option<$crate::table::keyed::DictionaryPage>> {
                use $crate::table::column::Column;
                // Keys of the next row group are others.
                self.repeats.begin(None);
                vec![self.$first.dictionary(), $(self.$column.dictionary(),)*]
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, $table:expr, { $($columns:tt)* }) => {
        $crate::table::column::columns! { $(#[$doc])* $name, $table, of the context [], { $($columns)* } }
    };
}
pub(super) use columns;

/// A number in every row.
#[derive(Debug)]
pub(super) struct Numbers<T: ArrowPrimitiveType>(Vec<T::Native>);

/// A number or null.
#[derive(Debug)]
pub(super) struct OptionalNumbers<T: ArrowPrimitiveType>(PrimitiveBuilder<T>);

pub(super) type Int64 = Numbers<Int64Type>;
pub(super) type Float64 = Numbers<Float64Type>;
pub(super) type OptionalInt32 = OptionalNumbers<Int32Type>;
pub(super) type OptionalInt64 = OptionalNumbers<Int64Type>;
pub(super) type OptionalFloat64 = OptionalNumbers<Float64Type>;

impl<T: ArrowPrimitiveType> Default for Numbers<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: ArrowPrimitiveType> Default for OptionalNumbers<T> {
    fn default() -> Self {
        // Nothing until the first row: most tables of most files stay empty.
        Self(PrimitiveBuilder::with_capacity(0))
    }
}

impl<T: ArrowPrimitiveType> Numbers<T> {
    #[inline]
    pub(super) fn push(&mut self, value: T::Native) {
        self.0.push(value);
    }
}

impl<T: ArrowPrimitiveType> OptionalNumbers<T> {
    #[inline]
    pub(super) fn push(&mut self, value: Option<T::Native>) {
        self.0.append_option(value);
    }
}

impl<T: ArrowPrimitiveType> Column for Numbers<T> {
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        T::DATA_TYPE
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    fn finish(&mut self) -> Batch {
        let rows = self.0.len();
        let values = std::mem::replace(&mut self.0, Vec::with_capacity(rows));
        let values = PrimitiveArray::<T>::new(ScalarBuffer::from(values), None);
        Batch::Values(Arc::new(values))
    }
}

impl<T: ArrowPrimitiveType> Column for OptionalNumbers<T> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        T::DATA_TYPE
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    fn finish(&mut self) -> Batch {
        Batch::Values(Arc::new(self.0.finish()))
    }
}

/// Yes, no or null.
#[derive(Debug)]
pub(super) struct OptionalBool(BooleanBuilder);

impl Default for OptionalBool {
    fn default() -> Self {
        Self(BooleanBuilder::with_capacity(0))
    }
}

impl OptionalBool {
    #[inline]
    pub(super) fn push(&mut self, value: Option<bool>) {
        self.0.append_option(value);
    }
}

impl Column for OptionalBool {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        DataType::Boolean
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    fn finish(&mut self) -> Batch {
        Batch::Values(Arc::new(self.0.finish()))
    }
}

/// A count or a size as Parquet's signed integer; what doesn't fit (2^63 and above is no size of anything) becomes the largest.
#[inline]
pub(super) fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A rank or a count of ranks as Parquet's signed integer; what doesn't fit becomes the largest.
#[inline]
pub(super) fn to_i32(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// A line's number as Parquet's signed integer.
#[inline]
pub(super) fn line_number(line: u64) -> i64 {
    to_i64(line)
}
