//! Texel formats, and the layout of texels in the host form of a texture.

use super::layout::Layout;
use crate::error::{Error, Result};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Range;

/// The kind of the components of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComponentKind {
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
    /// Floats.
    Float,
    /// Signed normalized integers: -1 to 1.
    Norm,
    /// Unsigned normalized integers: 0 to 1.
    Unorm,
    /// Doubles.
    Double,
}

impl fmt::Display for ComponentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Float => "float",
            Self::Norm => "norm",
            Self::Unorm => "unorm",
            Self::Double => "double",
        })
    }
}

/// The format of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TexelFormat {
    /// The kind of its components.
    pub kind: ComponentKind,
    /// The number of components.
    pub components: u32,
    /// The bits of each component.
    pub bits: u32,
}

impl TexelFormat {
    /// A format; fails unless it is one of the 41 supported ones (TEX-2 to TEX-6). `bits` 0 selects the default of the kind.
    pub fn new(kind: ComponentKind, components: u32, bits: u32) -> Result<Self> {
        use ComponentKind::{Double, Float, Int, Norm, Uint, Unorm};
        if !(1..=4).contains(&components) {
            return Err(Error::invalid(format!(
                "texels with {components} components were requested; texels must have 1 to 4 components"
            )));
        }
        let bits = match (bits, kind) {
            (0, Norm | Unorm) => {
                return Err(Error::invalid(format!("{kind} texels need a number of bits; pass 8 or 16")));
            }
            (0, Double) => 64,
            (0, _) => 32,
            (bits, _) => bits,
        };
        if ![8, 16, 32, 64].contains(&bits) {
            return Err(Error::runtime(format!(
                "components of {bits} bits were requested; components must have 8, 16, 32 or 64 bits"
            )));
        }
        let possible = match kind {
            Int | Uint => bits <= 32 && (components != 3 || bits == 32),
            Float => bits == 32 || bits == 16 && components != 3,
            Norm | Unorm => bits <= 16 && components != 3,
            Double => bits == 64 && components <= 2,
        };
        let this = Self { kind, components, bits };
        if possible {
            Ok(this)
        } else {
            Err(Error::unsupported(format!(
                "texels of {this} are not supported; use another number of bits or components (docs/spec/textures.md)"
            )))
        }
    }

    /// Bytes of a texel in the host form.
    pub fn bytes(&self) -> u64 {
        u64::from(self.components * self.bits / 8)
    }
}

impl fmt::Display for TexelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} component(s) of {} bits", self.components, self.kind, self.bits)
    }
}

/// The maximum number of texels in a dimension. The first number is for textures with one or two dimensions, the second for those
/// with three.
const MAX_EXTENT: [u32; 2] = [16384, 2048];

/// The shape of a texture. In the host form, the levels follow each other; each level is packed and row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextureShape {
    format: TexelFormat,
    /// The extent of level 0, most significant dimension first.
    extent: SmallVec<[u32; 3]>,
    levels: u32,
}

impl TextureShape {
    /// A shape with this many levels; `None` for the maximum number (TEX-8).
    pub fn new(format: TexelFormat, extent: &[i32], levels: Option<u32>) -> Result<Self> {
        if !(1..=3).contains(&extent.len()) {
            return Err(Error::invalid(format!(
                "a texture of {} dimensions was requested; textures must have 1 to 3 dimensions",
                extent.len()
            )));
        }
        let most = MAX_EXTENT[usize::from(extent.len() == 3)];
        if let Some(bad) = extent.iter().find(|&&e| e <= 0 || e as u32 > most) {
            return Err(Error::runtime(format!(
                "the extent {extent:?} of the texture has {bad} texels in a dimension; textures of {} dimensions must \
                 have 1 to {most} texels in each dimension",
                extent.len()
            )));
        }
        let extent: SmallVec<[u32; 3]> = extent.iter().map(|&e| e as u32).collect();
        let all = extent.iter().max().map_or(1, |e| e.ilog2() + 1);
        let levels = levels.unwrap_or(all);
        if levels == 0 || levels > all {
            return Err(Error::runtime(format!(
                "{levels} levels were requested for a texture of extent {extent:?}, which can have 1 to {all} levels"
            )));
        }
        Ok(Self { format, extent, levels })
    }

    /// The format of its texels.
    pub fn format(&self) -> TexelFormat {
        self.format
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.extent.len()
    }

    /// Number of levels.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The extent of a level, most significant first.
    pub fn extent(&self, level: u32) -> SmallVec<[u32; 3]> {
        self.extent.iter().map(|&e| (e >> level).max(1)).collect()
    }

    /// The layout of a level's texels in the host form.
    pub fn level(&self, level: u32) -> Layout {
        let sizes = |k| -> SmallVec<[u64; 3]> { self.extent(k).into_iter().map(u64::from).collect() };
        let before: u64 = (0..level).map(|k| sizes(k).iter().product::<u64>()).sum();
        Layout::packed(before * self.format.bytes(), self.format.bytes(), &sizes(level))
    }

    /// The layout of some levels in the host form: a box of texels for one level, one large element for several.
    pub fn layout(&self, levels: &Range<u32>) -> Layout {
        let first = self.level(levels.start);
        if levels.end - levels.start == 1 {
            return first;
        }
        let end = self.level(levels.end - 1).hull().end;
        Layout { offset: first.offset, element: end - first.offset, dims: SmallVec::new() }
    }

    /// The levels whose host form is exactly these bytes; `None` if the bytes are not whole levels.
    pub fn levels_of(&self, bytes: &Range<u64>) -> Option<Range<u32>> {
        let hull = |level| self.level(level).hull();
        let first = (0..self.levels()).find(|&level| hull(level).start == bytes.start)?;
        let last = (first..self.levels()).find(|&level| hull(level).end == bytes.end)?;
        Some(first..last + 1)
    }

    /// The levels that have some of these bytes of the host form.
    pub fn levels_in(&self, bytes: &Range<u64>) -> impl Iterator<Item = u32> {
        (0..self.levels()).filter(move |&level| {
            let all = self.level(level).hull();
            all.start < bytes.end && bytes.start < all.end
        })
    }

    /// Bytes of all levels in the host form.
    pub fn bytes(&self) -> u64 {
        self.level(self.levels - 1).hull().end
    }

    /// Splits these contiguous bytes of the host form into boxes of texels, and calls `each` for the boxes in order.
    pub fn for_each_box(&self, bytes: &Range<u64>, mut each: impl FnMut(TexelBox)) {
        let texel = self.format.bytes();
        for level in 0..self.levels {
            let whole = self.level(level).hull();
            let (from, to) = (bytes.start.max(whole.start), bytes.end.min(whole.end));
            if from >= to {
                continue;
            }
            let mut size = [1; 3];
            size.iter_mut().zip(self.extent(level).iter().rev()).for_each(|(to, &from)| *to = from);
            let [width, height, _] = size.map(u64::from);
            let (mut at, end) = ((from - whole.start) / texel, (to - whole.start).div_ceil(texel));
            while at < end {
                let (x, y, z) = (at % width, at / width % height, at / width / height);
                let left = end - at;
                let size = if x > 0 || left < width {
                    [(width - x).min(left), 1, 1]
                } else if y > 0 || left < width * height {
                    [width, (height - y).min(left / width), 1]
                } else {
                    [width, height, left / (width * height)]
                };
                each(TexelBox { level, at: [x, y, z].map(|n| n as u32), size: size.map(|n| n as u32) });
                at += size.iter().product::<u64>();
            }
        }
    }

    /// `count` levels from `first` on, or all levels from `first` on if `count` is 0 (TEX-37, TEX-38).
    pub fn range(&self, first: u32, count: u32) -> Result<Range<u32>> {
        let end = if count == 0 { self.levels } else { first.saturating_add(count) };
        if first >= self.levels || end > self.levels {
            return Err(Error::runtime(format!(
                "levels {first} to {} were requested, but the texture has {} levels, numbered from 0",
                end.max(first.saturating_add(1)) - 1,
                self.levels
            )));
        }
        Ok(first..end)
    }
}

/// A box of texels of one level, in Vulkan's order x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelBox {
    /// The level.
    pub level: u32,
    /// Its first texel.
    pub at: [u32; 3],
    /// The number of texels in each dimension.
    pub size: [u32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;
    use ComponentKind::*;

    #[test]
    fn there_are_41_formats() {
        let mut found = 0;
        for kind in [Int, Uint, Float, Norm, Unorm, Double] {
            for components in 1..=4 {
                found += [8, 16, 32, 64].iter().filter(|&&b| TexelFormat::new(kind, components, b).is_ok()).count();
            }
        }
        assert_eq!(found, 41);
    }

    #[test]
    fn levels_follow_each_other() {
        let format = TexelFormat::new(Float, 3, 0).unwrap();
        let shape = TextureShape::new(format, &[10, 3], None).unwrap();
        let levels: Vec<_> = (0..shape.levels()).map(|k| (shape.extent(k).to_vec(), shape.level(k).hull())).collect();
        let expected = [(vec![10, 3], 0..360), (vec![5, 1], 360..420), (vec![2, 1], 420..444), (vec![1, 1], 444..456)];
        assert_eq!(levels, expected);
        assert_eq!((shape.bytes(), shape.layout(&(1..3)).hull()), (456, 360..444));
        assert!(shape.range(4, 0).is_err() && shape.range(1, 4).is_err() && shape.range(2, u32::MAX).is_err());
        assert!(shape.range(3, 0).unwrap() == (3..4) && shape.range(0, 4).unwrap() == (0..4));
    }

    #[test]
    fn bytes_become_boxes_of_all_levels_in_order() {
        let format = TexelFormat::new(Uint, 2, 8).unwrap();
        for extent in [&[37][..], &[5, 7], &[3, 4, 5]] {
            let shape = TextureShape::new(format, extent, None).unwrap();
            let end = shape.bytes();
            for (from, to) in (0..end).step_by(2).flat_map(|from| (from + 2..=end).step_by(6).map(move |to| (from, to)))
            {
                let mut next = from;
                shape.for_each_box(&(from..to), |b| {
                    let level = shape.level(b.level);
                    let [w, h, _] = {
                        let mut all = [1_u64; 3];
                        level.dims.iter().rev().zip(&mut all).for_each(|(d, to)| *to = d.0);
                        all
                    };
                    for z in 0..b.size[2] {
                        for y in 0..b.size[1] {
                            let row = (u64::from(b.at[2] + z) * h + u64::from(b.at[1] + y)) * w + u64::from(b.at[0]);
                            assert_eq!(level.offset + row * 2, next, "{extent:?} {from}..{to}: {b:?}");
                            next += u64::from(b.size[0]) * 2;
                        }
                    }
                });
                assert_eq!(next, to);
            }
        }
    }
}
